// Random expression trees over the names of the scope "plain". Each kind of result has its own productions, so most
// trees evaluate; a small share of operands has any kind, so that errors are reached too.
export class Trees {
  constructor(random) {
    this.random = random;
  }

  any(depth) {
    return this[this.random.pick(["number", "number", "int", "string", "list", "bool", "dict"])](depth);
  }

  /** Mostly the kind asked for. */
  operand(kind, depth) {
    return this.random.chance(0.035) ? this.any(depth) : this[kind](depth);
  }

  number(depth) {
    const { random } = this;
    if (depth <= 0) {
      return random.pick(["n", "m", "zero", "half", "frac", "big", "1", "2", "10", "0.5", "3.25", "100", "4.0", "xs[0]", "d.a", "d['a']",
        "deep.x.y.z", "people[0].age", "ys[2]", "loopless | default(3)", "undef | default(2.5)", "ys.1"]);
    }
    const a = () => this.operand("number", depth - 1);
    switch (random.int(0, 13)) {
      case 0: case 1: case 2: case 3:
        return `${a()} ${random.pick(["+", "-", "*", "+", "*"])} ${a()}`;
      case 4:
        return `(${a()} ${random.pick(["+", "-", "*", "/", "//", "%"])} ${a()})`;
      case 5:
        return `${random.pick(["-", "+", "- "])}${this.number(depth - 1).replace(/^[-+]/, "")}`;
      case 6:
        return `(${a()}) | ${random.pick(["int", "float", "abs", "int(0)", "float(1)"])}`;
      case 7:
        return `${this.list(depth - 1)} | length`;
      case 8:
        return `(${a()} if ${this.bool(depth - 1)} else ${a()})`;
      case 9:
        return `${this.string(depth - 1)} | ${random.pick(["length", "int", "float", "int(5)"])}`;
      case 10:
        return `(${a()} ${random.pick(["or", "and"])} ${a()})`;
      case 11:
        return `[${a()}, ${a()}, ${a()}][${random.pick(["0", "1", "-1", "2", "xs[1]"])}]`;
      case 12:
        return `${this.int(depth - 1)} ${random.pick(["//", "%"])} ${random.pick(["2", "3", "4", "7", "-2"])}`;
      default:
        return `{"k": ${a()}}.k`;
    }
  }

  int(depth) {
    const { random } = this;
    if (depth <= 0) return random.pick(["n", "m", "zero", "1", "2", "3", "8", "16", "255", "xs[0]", "xs | length", "d.a"]);
    const a = () => this.operand("int", depth - 1);
    switch (random.int(0, 5)) {
      case 0: case 1:
        return `${a()} ${random.pick(["+", "-", "*"])} ${a()}`;
      case 2:
        return `(${a()} ${random.pick(["//", "%"])} ${a()})`;
      case 3:
        return `${random.pick(["2", "3", "10", "(-2)"])} ** ${random.pick(["0", "1", "2", "3", "5"])}`;
      case 4:
        return `(${this.number(depth - 1)} | int)`;
      default:
        return `(${a()} if ${this.bool(depth - 1)} else ${a()})`;
    }
  }

  string(depth) {
    const { random } = this;
    if (depth <= 0) {
      return random.pick(["s", "t", "digits", "empty", "spaced", "words[0]", "d.b", "'x'", '"a b"', "''", "'1e3'", "\"it's\"",
        "people[1].name", "'a\\nb'", "s[0]", "s[-1]", "t[1:4]", "accent"]);
    }
    const a = () => this.operand("string", depth - 1);
    switch (random.int(0, 10)) {
      case 0: case 1:
        return `${a()} ~ ${this.any(depth - 1)}`;
      case 2:
        return `(${a()} + ${a()})`;
      case 3:
        return `(${a()}) | ${random.pick(["upper", "lower", "title", "capitalize", "trim", "string", "indent", "tojson"])}`;
      case 4:
        return `(${a()}).${random.pick(["upper()", "lower()", "strip()", "title()", "capitalize()", "lstrip()", "rstrip()"])}`;
      case 5:
        return `(${a()})[${random.pick([":2", "1:", "::-1", "-2:", "0:3:2", "n:", ":m"])}]`;
      case 6:
        return `(${this.list(depth - 1)}) | join(${random.pick(["','", "''", "' - '", ""])})`;
      case 7:
        return `(${this.any(depth - 1)}) | tojson`;
      case 8:
        return `(${a()}) | replace(${random.pick(["'a'", "'l'", "''", "' '"])}, ${random.pick(["'X'", "''", "'yy'"])}${random.pick(["", ", 1", ", count=2"])})`;
      case 9:
        return `(${a()} if ${this.bool(depth - 1)} else ${a()})`;
      default:
        return `(${a()} or ${a()})`;
    }
  }

  bool(depth) {
    const { random } = this;
    if (depth <= 0) return random.pick(["yes", "no", "true", "false", "True", "False", "people[0].ok", "f('a')", "f('z')"]);
    switch (random.int(0, 8)) {
      case 0: case 1:
        return `${this.operand("number", depth - 1)} ${random.pick(["<", "<=", ">", ">=", "==", "!="])} ${this.operand("number", depth - 1)}`;
      case 2:
        return `(${this.any(depth - 1)} ${random.pick(["==", "!="])} ${this.any(depth - 1)})`;
      case 3:
        return `not ${this.bool(depth - 1)}`;
      case 4:
        return `(${this.bool(depth - 1)} ${random.pick(["and", "or"])} ${this.bool(depth - 1)})`;
      case 5:
        return `${this.number(depth - 1)} ${random.pick(["in", "not in"])} ${this.list(depth - 1)}`;
      case 6:
        return `${this.string(depth - 1)} ${random.pick(["in", "not in"])} ${random.pick([this.string(0), this.list(0), "d", "e"])}`;
      case 7:
        return `(${this.any(depth - 1)}) is ${random.pick(["", "not "])}${random.pick(["number", "string", "defined", "undefined",
          "none", "integer", "boolean", "iterable", "sequence", "mapping", "callable", "true", "false"])}`;
      default:
        return `(${this.int(depth - 1)}) is ${random.pick(["odd", "even", "not odd", "not even"])}`;
    }
  }

  list(depth) {
    const { random } = this;
    if (depth <= 0) return random.pick(["xs", "ys", "words", "nested", "none_list", "mixed", "d.c", "[1, 2, 3]", "[]", "['b', 'a']", "[0.5, 2]"]);
    const a = () => this.operand("list", depth - 1);
    switch (random.int(0, 7)) {
      case 0:
        return `[${Array.from({ length: random.int(0, 4) }, () => this.any(depth - 1)).join(", ")}]`;
      case 1:
        return `(${a()} + ${a()})`;
      case 2:
        return `(${a()})[${random.pick(["1:", ":2", "::2", "::-1", "-2:", ":-1", "n:m", "::0"])}]`;
      case 3:
        return `(${a()}) | ${random.pick(["reverse", "unique", "list"])}`;
      case 4:
        return `[${this.number(depth - 1)}, ${this.number(depth - 1)}, ${this.number(depth - 1)}] | sort`;
      case 5:
        return `people | ${random.pick(["map(attribute='age')", "map(attribute='tags', default='-')", "selectattr('ok') | list", "sort(attribute='age') | map(attribute='name')"])}`;
      case 6:
        return random.pick(["d.items()", "d.keys()", "d.values()", "d | items", "d | dictsort", "t.split()", "t.split('o')", "deep | keys"]);
      default:
        return `(${a()} if ${this.bool(depth - 1)} else ${a()})`;
    }
  }

  dict(depth) {
    const { random } = this;
    if (depth <= 0) return random.pick(["d", "e", "deep", "people[0]", "deep.x", "{}"]);
    return `{${Array.from({ length: random.int(0, 3) }, (_, i) => `"k${i}": ${this.any(depth - 1)}`).join(", ")}}`;
  }
}
