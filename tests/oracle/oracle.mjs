// The oracle: what @huggingface/jinja makes of one expression or one template, in the notation of the corpora.
import { createRequire } from "node:module";
import path from "node:path";

/** Loads the module from a node_modules folder. */
export async function loadOracle(modules) {
  const require = createRequire(path.join(path.resolve(modules), "x.cjs"));
  return require("@huggingface/jinja");
}

/** Scope values as JSON can write them: {"$": "undefined"}, {"$": "nan"}, {"$": "has", "of": [...]}. */
export function scopeValue(json) {
  if (Array.isArray(json)) return json.map(scopeValue);
  if (json === null || typeof json !== "object") return json;
  switch (json.$) {
    case undefined:
      return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, scopeValue(value)]));
    case "undefined":
      return undefined;
    case "nan":
      return NaN;
    case "infinity":
      return Infinity;
    case "has":
      return (name) => json.of.includes(name);
    default:
      throw new Error(`unknown scope value ${json.$}`);
  }
}

const number = (value) => (Object.is(value, -0) ? "-0" : String(value));

const wellFormed = (text) => text.isWellFormed();

/** A runtime value: ["i", text], ["f", text], ["s", text], ["l", ...], ["t", ...], ["d", [key, value]...], bool, null... */
export function encode(value) {
  switch (value.type) {
    case "IntegerValue":
      return ["i", number(value.value)];
    case "FloatValue":
      return ["f", number(value.value)];
    case "StringValue":
      return wellFormed(value.value)
        ? ["s", value.value]
        : ["w", ...Array.from({ length: value.value.length }, (_, i) => value.value.charCodeAt(i))];
    case "BooleanValue":
      return value.value;
    case "NullValue":
      return null;
    case "UndefinedValue":
      return ["u"];
    case "ArrayValue":
      return ["l", ...value.value.map(encode)];
    case "TupleValue":
      return ["t", ...value.value.map(encode)];
    case "ObjectValue":
      return ["d", ...Array.from(value.value, ([key, item]) => [key, encode(item)])];
    case "FunctionValue":
      return ["fn"];
    default:
      throw new TypeError(`no notation for ${value.type}`);
  }
}

function environment(jinja, scope) {
  const env = new jinja.Environment();
  for (const [name, value] of [["true", true], ["false", false], ["none", null]]) {
    env.set(name, value);
    env.set(name[0].toUpperCase() + name.slice(1), value);
  }
  for (const [name, value] of Object.entries(scope)) env.set(name, scopeValue(value));
  return env;
}

/** {v, p} (p null where the value cannot be printed), or {fails: true}. */
export function evaluate(jinja, text, scope) {
  let value;
  try {
    const body = jinja.parse(jinja.tokenize(`{{ ${text} }}`)).body;
    if (body.length !== 1) return { fails: true };
    const env = environment(jinja, scope);
    value = encode(new jinja.Interpreter(env).evaluate(body[0], env));
  } catch (error) {
    if (error instanceof TypeError && /no notation/.test(error.message)) throw error;
    return { fails: true };
  }
  let printed = null;
  try {
    printed = new jinja.Template(`{{ ${text} }}`)
      .render(Object.fromEntries(Object.entries(scope).map(([name, item]) => [name, scopeValue(item)])))
      .toWellFormed();
  } catch {
    // A value without text: a tuple, or a list that holds one.
  }
  return { v: value, p: printed };
}

/** {out} or {fails: true}. */
export function render(jinja, text, scope) {
  try {
    const out = new jinja.Template(text).render(
      Object.fromEntries(Object.entries(scope).map(([name, item]) => [name, scopeValue(item)])),
    );
    return { out: out.toWellFormed() };
  } catch {
    return { fails: true };
  }
}
