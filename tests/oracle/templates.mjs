// The corpus of templates: {"t": text, "s": scope, "out": rendered} or {"t", "s", "fails"}.
import { Random } from "./random.mjs";
import { scopes } from "./scopes.mjs";
import { Trees } from "./expression_trees.mjs";
import { render } from "./oracle.mjs";
import * as tables from "./template_tables.mjs";

const seed = 20240612;

/** Random templates: statements around random expressions, with whitespace control everywhere. */
class Templates {
  constructor(random) {
    this.random = random;
    this.trees = new Trees(random);
  }
  tag(body) {
    const { random } = this;
    return `{%${random.chance(0.2) ? "-" : ""} ${body} ${random.chance(0.2) ? "-" : ""}%}`;
  }
  text() {
    return this.random.pick(["a", " b ", "\n", "\n  ", "  \n", " ", "x = 1;\n", "{ y }", "// c\n", "", " -}\n", "\n\t{-", "\u00e9"]);
  }
  block(depth) {
    return Array.from({ length: this.random.int(1, 3) }, () => this.statement(depth)).join("");
  }
  statement(depth) {
    const { random, trees } = this;
    const kind = depth <= 0 ? random.int(0, 4) : random.int(0, 13);
    switch (kind) {
      case 0: case 1:
        return this.text();
      case 2: case 3:
        return `{{${random.chance(0.15) ? "-" : ""} ${random.pick([() => trees.any(2), () => "x", () => "loop.index", () => "ns.v", () => "q"])()} ${random.chance(0.15) ? "-" : ""}}}`;
      case 4:
        return random.pick(["{# c #}", "{#- c -#}", this.tag("set q = " + trees.any(1)), this.tag("set ns.v = " + trees.number(1))]);
      case 5: case 6:
        return this.tag(`if ${trees.bool(2)}`) + this.block(depth - 1) +
          (random.chance(0.3) ? this.tag(`elif ${trees.bool(1)}`) + this.block(depth - 1) : "") +
          (random.chance(0.5) ? this.tag("else") + this.block(depth - 1) : "") + this.tag("endif");
      case 7: case 8: case 9:
        return this.tag(`for x in ${random.pick([() => trees.list(1), () => "range(3)", () => "xs if x > 1", () => "d"])()}`) + this.block(depth - 1) +
          (random.chance(0.25) ? this.tag(`if x == ${random.pick(["1", "'b'", "2"])}`) + this.tag(random.pick(["break", "continue"])) + this.tag("endif") : "") + this.text() +
          (random.chance(0.3) ? this.tag("else") + this.block(depth - 1) : "") + this.tag("endfor");
      case 10:
        return this.tag("set q") + this.block(depth - 1) + this.tag("endset") + "{{ q | trim }}";
      case 11:
        return this.tag(`filter ${random.pick(["upper", "trim", "indent(2, true)", "replace('a', 'b')"])}`) + this.block(depth - 1) + this.tag("endfilter");
      case 12:
        return this.tag("macro m(x, y=2)") + this.block(depth - 1) + this.tag("endmacro") + `{{ m(${random.pick(["1", "n, 3", "y=s", "", "*xs"])}) }}`;
      default:
        return this.tag("macro k()") + "<{{ caller() if caller is defined }}>" + this.tag("endmacro") + this.tag("call k()") + this.block(depth - 1) + this.tag("endcall");
    }
  }
}

function* whitespace() {
  const befores = ["a", "a\n", "a \n  ", " \n\n  ", ""];
  const afters = ["b", "\nb", " \n b", "\n\n", ""];
  for (const before of befores) {
    for (const after of afters) {
      for (const open of ["", "-"]) {
        for (const close of ["", "-"]) {
          yield `${before}{{${open} n ${close}}}${after}`;
          yield `${before}{#${open} c ${close}#}${after}`;
          yield `${before}{%${open} set q = 1 ${close}%}${after}`;
        }
      }
    }
  }
  for (let dashes = 0; dashes < 16; ++dashes) {
    const dash = (bit) => ((dashes >> bit) & 1 ? "-" : "");
    for (const space of [" ", "\n", "\n  "]) {
      yield `a${space}{%${dash(0)} if n ${dash(1)}%}${space}b${space}{%${dash(2)} endif ${dash(3)}%}${space}c\n`;
      yield `a${space}{%${dash(0)} for x in xs ${dash(1)}%}${space}{{ x }}${space}{%${dash(2)} endfor ${dash(3)}%}${space}c`;
    }
  }
}

export function templateCorpus(jinja) {
  const random = new Random(seed);
  const cases = [];
  for (const t of whitespace()) cases.push({ t, s: "plain", keep: 1 });
  for (const [t, s] of [...tables.statements, ...tables.textual, ...tables.wgsl]) cases.push({ t, s, keep: 1 });
  const templates = new Templates(random);
  for (let i = 0; i < 1500; ++i) {
    const t = "{% set ns = namespace(v=0) %}" + templates.block(random.int(1, 3));
    if (t.length < 700) cases.push({ t, s: "plain", keep: 0.25 });
  }
  const lines = [];
  const seen = new Set();
  let failing = 0;
  for (const { t, s, keep } of cases) {
    if (seen.has(t) || /(first|last)\b.*none_list|none_list.*\| (first|last)\b(?! %}\{\{ a is)/.test(t) || /(accent|\u00e9).*(upper|lower|title|capitalize)|(upper|lower|title|capitalize)(.|\n)*(accent|\u00e9)/.test(t)) continue;
    seen.add(t);
    const answer = render(jinja, t, scopes[s]);
    if (answer.fails && !random.chance(keep)) continue;
    if (!answer.fails && /=>|function |\[object Function/.test(answer.out)) continue;
    if (answer.fails) ++failing;
    lines.push({ t, s, ...answer });
  }
  const faults = lines.length < 800 ? [`only ${lines.length} templates`] : [];
  return {
    lines: [{ oracle: "@huggingface/jinja 0.5.11", seed, scopes }, ...lines],
    summary: `${lines.length} templates, ${(100 * (1 - failing / lines.length)).toFixed(1)}% succeed, seed ${seed}`,
    faults,
  };
}
