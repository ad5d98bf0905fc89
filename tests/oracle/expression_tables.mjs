// What the corpus of expressions combines: operands of every kind, filters, tests, and texts written by hand.
export const operands = ["7", "-3", "2.5", "0", "'5'", "'ab'", "''", "true", "nil", "missing", "[1, 2]", "none_list", "d", "(1, 2)", "4 / 2", "nan", "inf"];

export const tests = ["defined", "undefined", "none", "number", "integer", "string", "boolean", "true", "false", "iterable",
  "sequence", "mapping", "callable", "odd", "even", "lower", "upper", "eq", "equalto"];

export const filters = ["safe", "tojson", "default", "default('x')", "default(1, true)", "default('x', boolean=true)", "length", "first",
  "last", "reverse", "sort", "join", "join(', ')", "join(separator='+')", "unique", "list", "string", "map(attribute='a')", "selectattr('a')", "rejectattr('a')", "upper",
  "lower", "title", "capitalize", "trim", "indent", "indent(2)", "indent(2, true)", "replace('a', 'b')", "int", "int(3)", "int(default=4)", "float", "float(1.5)",
  "abs", "bool", "items", "get('a')", "get('zz', 5)", "keys", "values", "dictsort", "length()", "upper()", "first()", "safe()", "abs()", "sum", "round", "nothing",
  "tojson(indent=2)", "tojson(indent=1, sort_keys=true)", "tojson(separators=(',', ':'))", "tojson(2)", "items()", "keys()", "values()", "dictsort(reverse=true)", "sort(reverse=true)"];

export const filterNames = ["safe", "tojson", "default", "length", "first", "last", "reverse", "sort", "join", "unique", "list", "string", "map",
  "selectattr", "rejectattr", "upper", "lower", "title", "capitalize", "trim", "indent", "replace", "int", "float", "abs", "bool", "items", "get",
  "keys", "values", "dictsort"];

export const accesses = [".length", ".a", "['a']", "[0]", "[1]", "[-1]", "[9]", ".0", ".-1", ".1", "[0:1]", "[:]", ".missing.deeper", "[true]", "[1.0]", "[nil]",
  ".upper", ".upper()", ".keys", ".get('a')", ".get", "()", "(1)", ".items()", "[undef]", "['length']", "[n - 7]", "[4 / 2]", "[(4 / 2) | int]"];

export const precedenceForms = ["-2 OP 3", "2 OP -3", "- 2 OP + 3", "not 2 OP 3", "not true OP false", "2 OP 3 | string", "(2 OP 3) | string", "2 OP xs | length",
  "2 OP 3 is number", "2 is number OP 3", "2 OP 3 if true else 4", "1 if 2 OP 3 else 4", "n.x OP n", "xs[1] OP xs[0]", "d.a OP d['a']", "[2 OP 3, 4]", "(2) OP (3)",
  "2 OP (3, 4)", "f('a') OP true", "-n OP -m", "2OP3", " 2  OP  3 ", "2 OP not 3", "1 + 2 OP 3 * 4", "'a' OP 'b' 'c'", "2 OP 3 OP 4", "2 OP 3 OP 4 OP 5", "2 OP (3 OP 4)"];

// A bare first or last of an empty list gives a value of the host language that fails only when it is used; letters
// beyond ASCII keep their case in kernelpack; functions of the host refuse keyword arguments there.
export const excluded = [/(accent|é).*(upper|lower|title|capitalize)/, /\bf\(.*\w\)?=[^=]/, /\bf\(\*\*d\)/,
  /none_list\)* \| (first|last)/, /\[\] \| (first|last)/, /\[:0\][^|]*\| (first|last)/, /\['upper'\] ==|\.upper ==/];

/** Operands that suit a filter, so that each one succeeds often. */
export const applications = [
  [["xs", "ys", "words", "nested", "mixed", "people", "[0]", "(1, 2)", "d.c", "['', nil]", "d.items()", "t.split()"],
    ["first", "last", "reverse", "list", "length", "unique", "string", "join", "join('/')", "tojson", "safe"]],
  [["people", "people[:1]", "[]", "[d, {'ok': 0}, {'ok': 'x'}]", "[{'ok': 1, 'age': 4}, {}]"],
    ["selectattr('ok')", "rejectattr('ok')", "selectattr('age', 'defined')", "rejectattr('age', 'defined')", "rejectattr('ok', 'true')", "map(attribute='ok')", "map(attribute='age', default=-1)",
      "sort(attribute='age')", "selectattr('age', 'even')", "rejectattr('age', 'integer')"]],
  [["yes", "no", "true", "False", "(n > 1)", "(xs is iterable)", "(not n)", "(n in xs)", "(f('a'))", "(s == 'abc')", "('a' in d)"], ["bool", "int", "float", "string", "tojson", "int(5)", "float(5)"]],
  [["d", "e", "deep", "people[0]", "{'z': 1, 'Y': 2}", "deep.x", "{'k': nil, 'l': undef}"],
    ["items", "keys", "values", "values()", "get('a')", "get('z', 'none')", "get('k')", "dictsort", "dictsort(true)", "length", "tojson", "tojson(sort_keys=true)"]],
  [["s", "t", "spaced", "accent", "digits", "empty", "'a\\nb'", "'  '"],
    ["upper", "lower", "title", "capitalize", "trim", "indent", "indent(1, true)", "replace('a', 'b')", "replace(' ', '')", "int", "float", "string", "join", "join('.')", "length", "tojson", "safe"]],
  [["n", "m", "half", "frac", "big", "nan", "inf", "-2.5", "(n / 2)"], ["abs", "int", "float", "string", "tojson", "int(1)", "float(1)", "default(1)", "safe"]],
];

const plain = (texts) => texts.map((text) => [text, "plain"]);

export const handWritten = plain([
  "1 == 1 == true", "1 < 2 < 3", "'a' < 'b'", "true + 1", "nil > 1", "-7 % 3", "-7 // 2", "7 / 2 * 2", "-2 ** 2", "2 ** 3 ** 2", "5.5 % 2", "-5.5 % 2", "5.5 % -2",
  "[1] == [1]", "xs == xs", "d == d", "d.c == d.c", "xs[:] == xs", "'1' == 1", "' 1 ' == 1", "'' == 0", "'0x10' == 16", "'1e3' == 1000", "'abc' == 0", "true == 1", "true == '1'",
  "true == 'true'", "nil == undef", "nil == 0", "nil == false", "nil == ''", "none_list == 0", "none_list == ''", "none_list == false", "[5] == 5", "[1, 2] == '1,2'", "[2.0] == '2.0'", "[2.0] == 2",
  "[[1, 2], 3] == '[1, 2],3'", "d == '[object Map]'", "['a'] == 'a'", "[nil] == 'undefined'", "[true] == 'true'", "[true] == true", "[1] == true", "nan == nan", "nan != nan", "0 == -0", "-0 == 0.0",
  "1 in ['1']", "1 in [true]", "2 in [2.0]", "nan in [nan]", "'a' in 'cab'", "'' in 'x'", "'' in ''", "'a' in d", "'zz' in d", "1 in d", "xs in [xs]", "xs in xs", "d in [d]", "1 in undef", "1 not in undef",
  "undef in undef", "nil in undef", "nil in [nil]", "undef in [1]", "1 in nil", "1 in 'a1'", "'a' not in 'cab'", "true in [1, true]", "true in [1]", "f in [f]", "f == f", "f == 1", "f('a')", "f('c')", "f()",
  "n()", "missing()", "d.a()", "'x'()", "f('a', x=1)", "missing.a.b.c", "nil.a.b", "missing[0]", "nil[0]", "n[0]", "n.a", "n['a']", "missing['a']", "xs['length']", "d['length']", "d.length", "e.length",
  "d.keys is defined", "d.foo is defined", "xs.foo is defined", "s.foo is defined", "d.get('a')", "d.get('q')", "d.get('q', 3)", "d.get(1)", "d.get()", "d.items()", "d.values()[2][1]", "d | length", "e | length",
  "xs[0.0]", "xs[1 / 1]", "xs[true]", "xs[nil]", "xs[99]", "xs[-99]", "xs[1 // 0]", "xs[0 // 0]", "s[1 // 0]", "s[99]", "s[-1]", "s[0]", "accent[3]", "accent[-1]", "accent | length", "accent[:3]",
  "'\\u00e9' | length", "'\\ud83d\\ude00' | length", "'\\ud83d\\ude00'[0]", "'\\ud83d\\ude00'[0] | tojson", "('\\ud83d\\ude00'[0]) ~ ('\\ud83d\\ude00'[1])", "'\\ud83d' ~ '\\ude00' | length", "'\\ud83d' | tojson",
  "'\\x41'", "'\\x4'", "'\\u004'", "'\\q'", "'\\0'", "'\\''", "\"\\\"\"", "'\\\\'", "'a\\\nb'", "'line\nbreak'", "'tab\tin'", "'a' 'b' \"c\"", "'a'\n'b'", "'\\n\\t\\r\\b\\f\\v' | tojson", "'\\x7f\\x80' | tojson",
  "'\\x7f\\u00e9\\ud83d\\ude00' | tojson(ensure_ascii=true)", "'</script>' | tojson", "'\\u2028' | tojson", "{'b': 1, 'a': 2, 'B': 3, 'A': 4, '_': 5, '1': 6, 'ab': 7} | tojson(sort_keys=true)",
  "[1, [2, {'a': []}], {}] | tojson(indent=2)", "[1, 2] | tojson(indent=0)", "[] | tojson(indent=3)", "{'a': {'b': [1, 2.0, nil, undef, nan]}} | tojson(indent=1)", "5 | tojson(indent=-1)", "[5] | tojson(indent=-1)",
  "[1, 2] | tojson(separators=('; ', '='))", "d | tojson(separators=[',', ':'], indent=2)", "d | tojson(separators='x')", "d | tojson(separators=(',',))", "d | tojson(indent='2')", "d | tojson(sort_keys=1)", "d | tojson(ensure_ascii=nil)",
  "(1, 2)", "(1, 2) | length", "(1, 2) + [3]", "(1, 2) ~ ''", "[(1, 2)] ~ ''", "[(1, 2)]", "(1, 2)[0]", "(1, 2)[0:1]", "(1, 2) is iterable", "(1, 2) is sequence", "(1, 2) | list", "(1, 2) | reverse", "(1, 2) | join('-')",
  "(1, 2) | string", "(1, 2) | tojson", "1 in (1, 2)", "(1, (2, 3))", "(1,)", "()", "(1 2)", "[1 2 3]", "[1, 2,]", "[,]", "{'a': 1 'b': 2}", "{'a': 1,}", "{a: 1}", "{1: 2}", "{nil: 1}", "{s: n}", "{'a' ~ 'b': 1}", "{'a': 1, 'a': 2}",
  "{'a': 1, 'b': 2, 'a': 3}", "{\"a\": {\"b\": {\"c\": 1}}}.a.b.c", "{'x': 1}['x']", "{'x': 1} | length", "{}", "{} == {}", "not {}", "not []", "not ''", "not 0", "not nan", "not nil", "not 'a'", "not [0]", "e and 1", "e or 1", "none_list or 'x'",
  "1 if e else 2", "0 or '' or nil or undef", "1 and 2 and 0 and 3", "n or missing.x.y", "no and missing[0]", "yes or missing[0]", "1 if yes else missing[0]", "missing[0] if no", "1 if no", "(1 if no) is undefined",
  "1 if yes else 2 if no else 3", "1 if no else 2 if no else 3", "(1 if no else 2) + 1", "1 if yes if no", "[1 if yes, 2]", "not a not b", "not missing not yes", "[1 + not 2]", "-not", "not not yes", "not -1", "not - 1 + 1", "--1", "- -1", "+-+1", "-+n", "2 - -3", "2--3", "2 -3", "2+-3",
  "n -1", "n-1", "(n)-1", "xs[0]-1", "'a'-1", "-1.5.x", "-n.x", "- 1 | abs", "-1 | abs", "-3.7 | int", "3.7 | int(0)", "(-3.7) | int", "-(3.7) | int", "-0", "-0.0", "0 * -1", "0.0 * -1", "-0 ~ ''", "-0.0 ~ ''", "[-0.0] ~ ''", "[-0.0]",
  "2.0", "[2.0]", "2.0 ~ ''", "[2.0] ~ ''", "2.0 | string", "[2.0] | string", "[2.0, 1] | join(',')", "2.0 | tojson", "[nil, undef, 1] | join(',')", "[nil, undef, 1] ~ ''", "[nil, undef]", "[nil, undef] | tojson", "d ~ ''", "[d] ~ ''", "xs ~ ys", "nil ~ 'a'", "undef ~ 'a'", "true ~ 1", "'a' + 1", "1 + 'a'",
  "'a' + [1, 2.0]", "'a' + d", "'a' + true", "'a' + nil", "[1] + 'a'", "[1] + 1", "[1] + (2, 3)", "d + d", "4 / 2", "7 // 2.0", "7 % 2.0", "1 / 0", "-1 / 0", "0 / 0", "1 // 0", "5 % 0", "inf % 2", "2 ** -1", "2 ** 0.5", "0 ** -1", "0 ** 0", "(-8) ** 0.5", "10 ** 400", "true ** 2", "2 ** true",
  "2 ** 'a'", "2.0 ** 2", "10 ** 15", "10 ** 16", "10 ** 22", "3 ** 33", "3 ** 34", "(-2) ** 53", "1 ** inf", "nan ** 0", "1.5 ** 3", "xs.0", "xs.-1", "xs.+1", "xs.1.5", "nested.1.1.0", "nested[1][1][0]", "xs.(0)", "d.(a)", "xs is (defined)", "s | (upper)", "s | upper.x", "s | replace('a', 'b').x", "s | replace('a', 'b')()",
  "xs[0 1]", "xs[0:1:1:1]", "xs[]", "xs[::]", "xs[:::]", "xs[0 1:2]", "xs[0,1]", "s is defined", "missing is defined", "missing is undefined", "missing is not defined", "xs is odd", "2.0 is even", "inf // 1 is odd", "n is odd is true", "n is nothing", "1 if yes else (2 | nothing)", "1 if yes else (2 is nothing)", "nothing | nothing",
  "s.split('b')", "s.split('')", "s.split('b', 0)", "'a,b,c'.split(',', 1)", "'a,b,c'.split(',', -2)", "'a,b,c'.split(',', 5)", "' a  b c '.split()", "' a  b c '.split(nil, 1)", "' a  b c '.split(nil, -2)", "' a  b c '.split(undef)", "s.split(1)", "s.split(',', 1.0)", "''.split()", "''.split(',')", "s.startswith('a')", "s.startswith(['x', 'ab'])", "s.startswith([1])", "s.startswith()", "s.startswith(1)", "s.startswith(('a', 'b'))", "s.endswith('bc')",
  "s.endswith(['x', 'c'])", "s.endswith('')", "s.replace('b', 'X')", "s.replace('', '-')", "s.replace('b')", "s.replace(1, 2)", "'aaaa'.replace('a', 'b', 2)", "'aaaa'.replace('a', 'b', count=3)", "'aaaa'.replace('a', 'b', -1)", "'aaaa'.replace('a', 'b', 0)", "'aaaa'.replace('a', 'b', nil)", "'aaaa'.replace('aa', 'a')", "'a.b.c'.replace('.', '$&')", "'aaaa' | replace('a', 'b', 1.0)", "'aaaa' | replace('a', 'b', count='1')",
  "accent.replace('', '-')", "'\\ud83d\\ude00a' | join('-')", "'abc' | join('-')", "'abc' | join", "5 | join(',')", "xs | join(1)", "xs | join(nil)", "words | join(separator=', ')", "nested | join('; ')", "[d, 1] | join(' ')", "xs | sort", "words | sort", "words | sort(case_sensitive=true)", "words | sort(true)", "words | sort(false, true)", "mixed | sort", "[nil, nil] | sort", "[nil] | sort", "['a'] | sort", "[true, 0, 2, -1.5] | sort",
  "[3, nan, 1, nan, 2] | sort", "[5, 4, 3, 2, 1, nan, 0] | sort", "[['b'], ['a']] | sort", "xs | sort(1)", "xs | sort(attribute=nil)", "xs | sort(attribute=1.5)", "[[2, 'b'], [1, 'a']] | sort(attribute=0) | string", "[[2, 'b'], [1, 'a']] | sort(attribute='1') | string", "people | sort(attribute='name') | map(attribute='name')", "people | sort(attribute='age', reverse=true) | map(attribute='age')", "people | sort(attribute='tags.0')", "people | sort(attribute='missing')", "people | sort(attribute='ok') | map(attribute='name')",
  "people | map(attribute='name')", "people | map(attribute='tags.0')", "people | map(attribute='tags.0', default=0)", "people | map('upper')", "people | map(attribute=1)", "xs | map(attribute='a')", "[] | map(attribute='a')", "people | selectattr('ok') | map(attribute='name')", "people | rejectattr('ok') | map(attribute='name')", "people | selectattr('age', 'odd') | length", "people | selectattr('name', 'eq', 'Bo') | length", "people | selectattr('name', 'equalto', 'zz') | length", "people | selectattr('age', 'eq', 'x') | length", "people | selectattr('age', 'eq')", "people | selectattr('tags') | length", "people | rejectattr('tags', 'defined') | length",
  "people | selectattr('zz') | length", "people | rejectattr('zz') | length", "people | selectattr(s)", "people | selectattr()", "[] | selectattr()", "people | selectattr('name', 'nothing')", "people | selectattr('name', 'lower') | map(attribute='name')", "people | selectattr('name', 'odd')", "[1] | selectattr('a')", "[1, 1.0, true, '1', 1, nil, undef, nan, nan] | unique", "[xs, xs, xs[:]] | unique | length", "['a', 'A', 'a'] | unique", "[0, -0, 0.0] | unique",
  "[1, 2] | first", "[1, 2] | last", "s | first", "[[1], 2] | first | first", "[1] | reverse", "s | reverse", "s | list", "d | list", "s | length", "t | title", "'o\\'neil x_y 3a' | title", "t | capitalize", "'éa' | capitalize", "'HELLO' | capitalize", "spaced | trim", "'\\u00a0\\ufeffx\\u2003' | trim", "spaced.strip()", "spaced.lstrip()", "spaced.rstrip()", "'a\\nb\\n\\nc' | indent", "'a\\nb\\n\\nc' | indent(2)", "'a\\nb\\n\\nc' | indent(2, true)", "'a\\nb\\n\\nc' | indent(2, true, true)", "'a\\nb\\n\\nc\\n' | indent(first=true, width=1)", "'a' | indent(blank=true)", "'' | indent(2, true)", "'' | indent(2, true, true)", "'a\\nb' | indent('x')", "'a\\nb' | indent(-1)", "'a\\nb' | indent(1.0)", "'a\\nb' | indent(2, 'x')", "'a\\nb' | indent(2, none_list)", "'a\\nb' | indent(2, 0)", "'a\\nb' | indent(0)",
  "'12abc' | int", "'abc' | int", "'abc' | int(7)", "'abc' | int('x')", "'abc' | int(default=nil)", "' -12.9 ' | int", "'+5' | int", "'- 5' | int", "'0x1f' | int", "'1e3' | int", "'' | int", "'99999999999999999999' | int", "'12.5abc' | float", "'.5' | float", "'5.' | float", "'-.5e1' | float", "'1e3' | float", "'1e' | float", "'Infinityx' | float", "'-Infinity' | float", "'e5' | float", "'abc' | float(2)", "'abc' | float", "'3' | float", "true | int", "true | float", "true | string", "true | bool", "1 | bool", "'x' | bool", "2.5 | int", "-2.5 | int", "2.5 | float", "2 | float", "2 | float(1)", "2.5 | int(1)", "-5 | abs", "-5.5 | abs", "true | abs", "nan | int", "inf | int", "inf | string", "nan | string", "nil | string", "undef | default(3)", "undef | default", "nil | default(3)", "nil | default(3, true)", "0 | default(3, true)", "0 | default(3, 1)", "'' | default('x', boolean=true)", "undef | default(default_value=4)", "undef | default(boolean=true)", "missing.x | default('y')", "missing.x.y.z | default(1) + 1", "undef | length", "nil | length", "5 | length", "5 | trim", "undef | trim", "d | items", "d | keys", "d | values", "d | get('a')", "d | get", "d | dictsort", "d | dictsort(by='value')", "{'b': 2, 'a': 3} | dictsort(by='value')", "{'b': 2, 'a': 3} | dictsort(false, 'key', true)", "{'b': 2, 'A': 3} | dictsort", "{'b': 2, 'A': 3} | dictsort(true)", "{'b': 2} | dictsort(by='x')", "{'b': 2} | dictsort(1)", "{'b': 2, 'a': 3}.dictsort(reverse=true)", "d.items().length", "d.upper", "s.items", "xs.get", "nil | tojson", "undef | tojson", "f | tojson", "xs | safe", "f is callable", "s.upper is callable", "d.get is callable", "n is callable", "'abc' is lower", "'aBc' is lower", "'ABC' is upper", "'123' is upper", "'123' is lower", "5 is lower", "d is mapping", "xs is mapping", "d is sequence", "s is sequence", "d is iterable", "5 is sequence", "nan is number", "true is number", "true is integer", "2.0 is integer", "(4 / 2) is integer", "((4 / 2) | int) is integer", "8 / 2 == 4", "(8 / 2) ~ ''", "big * big", "big * big * big", "0.1 + 0.2", "1 - 0.9", "1 / 3", "-1 / 3", "100 / 3.0",
  "f(*['a'])", "f(*xs)", "f(*'a')", "f(**d)", "f(**{})", "f(*['a'], *['b'])", "f(**{}, 'a')", "f('a', *[])", "f(*[], 'a')", "f(a='x', 'y')", "f((a)='x')", "f(a.b='x')", "f('a',)", "f('a' 'b')", "f(, 'a')", "s.split(*[','])", "d.get(*['q', 9])", "s.upper(1)", "s.upper(x=1)", "'abc'.replace(*['b', 'X'])", "[1, 2, 3].length", "[].length", "''.length", "words[0].length", "xs.length.x", "xs.length()", "s.length", "t.lower().upper().title()", "t.split()[0].lower()", "people[0]['name']", "people[0].tags[0].upper()", "people.0.name", "deep['x'].y['z']", "deep.x['y'].z",
]);

export const syntax = ["", " ", "1 +", "+", "*", "1 2", "(1", "1)", "[1", "1]", "{'a'", "{'a':", "{'a': 1", "'abc", "\"abc", "'abc\"", "a b", "a..b", "a.", ".a", "a.'b'", "a[", "a[1", "1..2", "1.5.5", ".5", "5.", "1e3", "1E3", "1_000", "0x10", "007", "00.5", "1.50", "1a", "1if yes else 2", "1or 2", "1in[1]", "x'y'", "$a", "a$", "a@b", "a & b", "a && b", "a || b", "!a", "a ! b", "a = b", "a == = b", "a === b", "a <> b",
  "a ? b : c", "a; b", "a, b", "1, 2", "# x", "a # b", "{# x #}", "a {# x #}", "{{ 1 }}", "}}", "{{", "%}", "{%", "1 %}", "1 }}", "a | ", "a | 1", "a | 'b'", "a || b", "a | b(", "a is", "a is 1", "a is not", "a is 'b'", "a is not not defined", "is defined", "not", "and", "or", "in", "if", "else", "not in xs", "n not xs", "n in", "in xs", "[and]", "[if]", "[in, not]", "n if", "n if yes else", "n else m", "if yes", "n if yes else m else 3", "(n if yes else m)", "n if (yes", "d.if", "d.not", "d.in", "d['if']",
  "f(", "f(1", "f(1,", "f(,)", "f(1,,2)", "f(a=)", "f(=1)", "f(*)", "f(**)", "f(a==1)", "f(1 2)", "{,}", "{'a'}", "{'a', 'b'}", "{: 1}", "{'a': 1, , 'b': 2}", "[1, , 2]", "xs[1:2:3:4]", "xs[:1 2]", "xs[1:,2]", "lambda: 1", "1 <= 2", "1 =< 2", "1 => 2", "2 * * 3", "2 ** ** 3", "2 // / 3", "2 * -3", "2 ** -1", "2 ~ ~ 3", "~2", "2 ~", "\\", "'\\", "'\\'", "a\\b", "\u00a0n", "n\u00a0+ 1", "n\u2003+\u20281", "\ufeffn", "\u00e9", "n\u00e9", "\u200bn", "'\u00e9\u{1f600}'", "n\n+\n1", "n\r\n+ 1", "\tn\t", "n\f+\v1", "n+\u0085 1",
  "-", "- -", "+1", "+n", "+'a'", "-'a'", "-true", "+true", "-nil", "-missing", "-xs", "-d", "not xs", "- 2 ** 2", "(-2) ** 2", "{} - 1", "{}-1", "{} -n", "[] - 1", "{'a': 1} == -1", "{'a': -1}", "[-1, - 1, +1]", "f(-1)", "xs[-1]", "xs[- 1]", "xs[n - 8]", "1 if -1 else -2", "2-1", "2 - 1", "2- 1", "n-m", "n--m", "n - -m", "s-1", "true-1", "not-1", "1 in-1"];

export const shapes = ["shapes.data[3]", "shapes.data[-1] * 2", "shapes.data | length", "shapes.missing", "shapes.missing is defined", "shapes.missing[0]", "shapes.missing | default([1])", "ranks.data == 4", "attrs.axis < ranks.data", "(attrs.axis + ranks.data) % ranks.data", "attrs['axis']", "attrs.nope == none", "attrs.nope is undefined", "attrs.nope is defined and attrs.nope > 3", "attrs.mode == 'linear'", "attrs.mode in ['linear', 'cubic']", "attrs.alpha * 2",
  "attrs.alpha * 4 | int", "(attrs.alpha * 4) | int", "device.features.has('shader-f16')", "device.features.has('nope')", "not device.features.has('subgroups')", "device.features.size", "device.limits.maxComputeWorkgroupsPerDimension", "device.limits.nope > 3", "device.limits.maxComputeInvocationsPerWorkgroup >= tunables.WG", "device.adapterInfo.subgroupMinSize == 32", "device.adapterInfo.subgroupMaxSize == 32", "device.adapterInfo.vendor ~ '-' ~ device.adapterInfo.architecture", "tunables.WG // tunables.VEC", "tunables.WG / tunables.VEC",
  "tunables.WG % 100", "tunables.WG * tunables.SCALE", "shapes.vec[0] // DISPATCH_FOLD_WIDTH", "shapes.vec[0] % DISPATCH_FOLD_WIDTH", "dtypes.T == 'f16'", "dtypes.I[:4]", "dtypes.T ~ 'x'", "present.data and not present.bias", "shapes.data == shapes.data", "shapes.data == [8, 12, 48, 48]", "shapes.data[:2] + shapes.bias[1:]", "shapes.data[attrs.axis]", "shapes.data[attrs.axis:]", "shapes.scalar | length == 0", "shapes.scalar[0]", "shapes.scalar | first is defined and false", "attrs.axes | length", "attrs.axes[1] in [-1, 3]",
  "(shapes.data[0] * shapes.data[1] + tunables.WG - 1) // tunables.WG", "((shapes.data[0] * shapes.data[1] + tunables.WG - 1) / tunables.WG) | int", "4 if shapes.data[3] % 4 == 0 else 1", "'vec4<' ~ dtypes.T ~ '>' if tunables.VEC == 4 else dtypes.T", "shapes", "shapes.data", "attrs", "ranks | dictsort", "shapes | length", "{'data': shapes.data}", "shapes.data | join('x')", "shapes.data | sort | last", "shapes.data | unique | length", "[shapes.data[0], shapes.data[1]] | tojson"];

/** Numbers whose printing shows the rules of 4.6. */
export function numbers(random) {
  const texts = ["0.000001", "0.0000001", "0.00000123", "1000000", "123456789012345680000", "100000000000000000000", "1000000000000000000000", "1000000000000000000000.0", "100000000000000000000.0", "123456789012345678.0",
    "590295810358705651712.0", "590295810358705651712", "0.1", "0.30000000000000004", "5.0", "12345.678", "9007199254740993", "9007199254740992.0", "1.7976931348623157" + "0".repeat(20), "9".repeat(310), "9".repeat(310) + ".5", "0." + "0".repeat(330) + "1", "4.35", "2.675", "1.005",
    "10 ** 21 * 1.0", "10 ** 20 * 1.0", "1 / 3 * 10 ** 5", "2 / 3", "1 / 7", "22 / 7.0", "0.1 * 3", "1 - 0.9", "1 / 0", "-1 / 0", "0 / 0", "-0", "-0.0", "0.0", "1.0", "-1.0", "100.0", "1 / 1024", "1 / 3 / 1000000", "1 / 3 / 10000000"];
  for (let i = 0; i < 120; ++i) {
    const digits = Array.from({ length: random.int(1, 18) }, () => random.int(0, 9)).join("");
    texts.push(random.chance(0.5) ? digits : `${digits.slice(0, random.int(1, digits.length))}.${digits}`);
    texts.push(`${digits} ${random.pick(["*", "/"])} ${random.pick(["3", "7", "10", "1000000", "0.1", "1000000007", "0.00001"])}`);
    if (i % 3 === 0) texts.push(`0.${"0".repeat(random.int(0, 9))}${digits}`);
    if (i % 3 === 1) texts.push(`[${digits}.5, ${digits}, ${digits}.0]`);
    if (i % 3 === 2) texts.push(`${digits}.25 ~ '|' ~ ${digits}`);
  }
  return texts;
}

/** Nesting up to 150, and chains that do not nest. */
export function nested() {
  const texts = [];
  for (const depth of [10, 50, 100, 149]) {
    texts.push("(".repeat(depth) + "1" + ")".repeat(depth));
    texts.push("[".repeat(depth) + "1" + "]".repeat(depth));
    texts.push("not ".repeat(depth) + "yes");
    texts.push("- ".repeat(depth) + "n");
    texts.push("{'a': ".repeat(depth) + "1" + "}".repeat(depth));
    texts.push("1 if no else ".repeat(depth) + "2");
    texts.push("(1 + ".repeat(depth) + "1" + ")".repeat(depth));
    texts.push("xs[".repeat(depth) + "1" + "]".repeat(depth));
    texts.push("[0, " .repeat(depth) + "1" + "][1]".repeat(depth));
  }
  for (const length of [200, 1000]) {
    texts.push(Array(length).fill("1").join(" + "));
    texts.push(Array(length).fill("yes").join(" and "));
    texts.push(Array(length).fill("0").join(" or "));
    texts.push("n" + " | abs".repeat(length));
    texts.push("s" + ".upper()".repeat(length));
    texts.push("n" + " is defined".repeat(length));
    texts.push("deep" + ".x".repeat(length));
    texts.push(Array(length).fill("'a'").join(" "));
    texts.push("1" + " * 1 - 1 + 1".repeat(length));
  }
  return texts;
}
