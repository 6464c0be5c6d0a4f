package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// want is line:col of the key and of the value at the pointer, and the text of both.
func TestPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, data, parent, key string
		keyAt, valueAt                Pos
		keyText, valueText            string
	}{
		{"json", "a.json", `{"a": {"b": 12}}`, "/a", "b", Pos{1, 8}, Pos{1, 13}, `"b"`, `12`},
		{"json, characters before are no bytes", "a.json", `{"é": "日本", "b": true}`, "", "b", Pos{1, 13}, Pos{1, 18}, `"b"`, `true`},
		{"json, one character outside the basic plane", "a.json", `{"😀": 1, "b": "c"}`, "", "b", Pos{1, 10}, Pos{1, 15}, `"b"`, `"c"`},
		{"json, CRLF", "a.json", "{\r\n  \"a\": 1,\r\n  \"b\": null\r\n}", "", "b", Pos{3, 3}, Pos{3, 8}, `"b"`, `null`},
		{"json, tabs are one column", "a.json", "{\n\t\t\"b\":\t\"x\"}", "", "b", Pos{2, 3}, Pos{2, 8}, `"b"`, `"x"`},
		{"json, byte order mark", "a.json", "\ufeff{\"b\": [1]}", "", "b", Pos{1, 2}, Pos{1, 7}, `"b"`, `[1]`},
		{"json, escapes in the key", "a.json", `{"a\u002fb": 1}`, "", "a/b", Pos{1, 2}, Pos{1, 14}, `"a\u002fb"`, `1`},
		{"yaml", "a.yaml", "a:\n  b: 12\n", "/a", "b", Pos{2, 3}, Pos{2, 6}, `b`, `12`},
		{"yaml, characters before are no bytes", "a.yaml", "{é: 日本, b: true}", "", "b", Pos{1, 9}, Pos{1, 12}, `b`, `true`},
		{"yaml, CRLF", "a.yml", "a: 1\r\nb: \"x\"\r\nc: 2\r\n", "", "b", Pos{2, 1}, Pos{2, 4}, `b`, `"x"`},
		{"yaml, quoted key", "a.yaml", "a: 1\n'b' : c # d\n", "", "b", Pos{2, 1}, Pos{2, 7}, `'b'`, `c`},
		{"yaml, byte order mark", "a.yaml", "\ufeffb: c\n", "", "b", Pos{1, 1}, Pos{1, 4}, `b`, `c`},
		{"yaml, in a list", "a.yaml", "- a: 1\n  b: x y\n", "/0", "b", Pos{2, 3}, Pos{2, 6}, `b`, `x y`},
		{"yaml, block scalar", "a.yaml", "b: |\n  x\n", "", "b", Pos{1, 1}, Pos{1, 4}, `b`, `|`},
		{"yaml, flow", "a.yaml", "a: {b: [1, 2]}\n", "/a", "b", Pos{1, 5}, Pos{1, 8}, `b`, `[1, 2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := Parse(tt.file, []byte(tt.data))
			require.Empty(t, f.Problems)
			m, ok := f.Root.At(tt.parent).Member(tt.key)
			require.True(t, ok)
			require.Equal(t, tt.keyAt, f.Pos(m.KeyStart))
			require.Equal(t, tt.keyText, string(f.data[m.KeyStart:m.KeyEnd]))
			require.Equal(t, tt.valueAt, f.Pos(m.Value.Start))
			require.Equal(t, tt.valueText, string(f.data[m.Value.Start:m.Value.End]))
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, data string
		code             ProblemCode
		at               Pos
		message, hint    string
	}{
		{"empty", "a.json", " \n", ProblemSyntax, Pos{2, 1}, "the file is empty", `starts with "{"`},
		{"trailing comma", "a.json", "{\"a\": 1,\n}", ProblemSyntax, Pos{1, 8}, `a comma before the closing "}"`, "remove it"},
		{"missing comma", "a.json", "{\"a\": 1\n \"b\": 2}", ProblemSyntax, Pos{2, 2}, `expected "," or "}", found '"'`, "comma missing"},
		{"missing colon", "a.json", `{"a" 1}`, ProblemSyntax, Pos{1, 6}, `expected ":" after the key "a", found '1'`, ""},
		{"bare key", "a.json", `{name: 1}`, ProblemSyntax, Pos{1, 2}, `expected a key in double quotes, found 'n'`, `"key"`},
		{"single quotes", "a.json", `{"a": 'x'}`, ProblemSyntax, Pos{1, 7}, "a string in single quotes", "double quotes"},
		{"comment", "a.json", "{\n// x\n\"a\": 1}", ProblemSyntax, Pos{2, 1}, "expected a key in double quotes", ""},
		{"comment for a value", "a.json", `{"a": # x`, ProblemSyntax, Pos{1, 7}, "a comment", "YAML"},
		{"python's word", "a.json", `{"a": True}`, ProblemSyntax, Pos{1, 7}, `unknown word "True"`, "write true"},
		{"bare word", "a.json", `{"a": yes}`, ProblemSyntax, Pos{1, 7}, `expected a value, found the word "yes"`, "double quotes"},
		{"unclosed object", "a.json", "{\n \"a\": 1\n", ProblemSyntax, Pos{3, 1}, "the file ends inside the object that starts at 1:1", "'}'"},
		{"unclosed string", "a.json", "{\"a\": \"x\n}", ProblemSyntax, Pos{1, 7}, "a string that does not end on its line", `\n`},
		{"unclosed string at the end", "a.json", `{"a": "x`, ProblemSyntax, Pos{1, 7}, "a string that does not end", ""},
		{"no value", "a.json", `{"a": `, ProblemSyntax, Pos{1, 7}, "the file ends where a value is expected", ""},
		{"escape", "a.json", `{"a": "\x"}`, ProblemSyntax, Pos{1, 8}, "an unknown escape sequence", `\\`},
		{"tab in a string", "a.json", "{\"a\": \"\t\"}", ProblemSyntax, Pos{1, 8}, "the control character 0x09", `\t`},
		{"leading zero", "a.json", `[01]`, ProblemSyntax, Pos{1, 2}, `"01" is not a JSON number`, "leading zeros"},
		{"bare point", "a.json", `[1.]`, ProblemSyntax, Pos{1, 2}, `"1." is not a JSON number`, "digit"},
		{"huge exponent", "a.json", `[1e999999999]`, ProblemSyntax, Pos{1, 2}, `out of range`, ""},
		{"two values", "a.json", "{} {}", ProblemSyntax, Pos{1, 4}, "unexpected '{' after the end", "one JSON value"},
		{"duplicate key", "a.json", "{\"a\": 1,\n \"a\": 2}", ProblemDuplicateKey, Pos{2, 2}, `the key "a" is given twice; the first is at 1:2`, "remove one"},
		{"not UTF-8", "a.json", "{\"a\": \"é\xff\"}", ProblemEncoding, Pos{1, 9}, "the byte 0xFF", "UTF-8"},
		{"deep", "a.json", strings.Repeat("[", 300), ProblemTooDeep, Pos{1, 202}, "nested more than 200 deep", ""},

		{"yaml tab", "a.yaml", "a:\n\tb: 1\n", ProblemSyntax, Pos{2, 1}, "not valid YAML", "spaces"},
		{"yaml mapping in a value", "a.yaml", "a: b: c\n", ProblemSyntax, Pos{1, 4}, "mapping value is not allowed", ""},
		{"yaml empty", "a.yaml", "# nothing\n", ProblemSyntax, Pos{1, 1}, "the file is empty", ""},
		{"yaml duplicate key", "a.yaml", "a: 1\nb: 2\na: 3\n", ProblemDuplicateKey, Pos{3, 1}, `the key "a" is given twice; the first is at 1:1`, ""},
		{"yaml two documents", "a.yaml", "a: 1\n---\nb: 2\n", ProblemSyntax, Pos{3, 1}, "a second YAML document", "---"},
		{"yaml unknown alias", "a.yaml", "a: *x\n", ProblemSyntax, Pos{1, 4}, `no anchor "x"`, "&x"},
		{"yaml anchor in itself", "a.yaml", "a: &x [*x]\n", ProblemSyntax, Pos{1, 8}, `"x" contains itself`, ""},
		{"yaml tag", "a.yaml", "a: !!binary aGk=\n", ProblemSyntax, Pos{1, 4}, `the tag "!!binary" is not supported`, ""},
		{"yaml infinity", "a.yaml", "a: .inf\n", ProblemSyntax, Pos{1, 4}, "infinity", ""},
		{"yaml key", "a.yaml", "{[a]: 1}\n", ProblemSyntax, Pos{1, 5}, "invalid key", ""},
		{"yaml deep flow", "a.yaml", strings.Repeat("[", 300), ProblemTooDeep, Pos{1, 201}, "nested more than 200 deep", ""},
		{"yaml with too many values", "a.yaml", "[" + strings.Repeat("a,", 40_000) + "]", ProblemTooLarge, Pos{1, 50_001}, "more than 50000 YAML tokens", "JSON"},
		{"yaml deep blocks", "a.yaml", strings.Repeat("- ", 450) + "x", ProblemTooDeep, Pos{1, 801}, "nested more than 200 deep", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := Parse(tt.file, []byte(tt.data))
			require.NotEmpty(t, f.Problems)
			p := f.Problems[0]
			require.Equal(t, tt.code, p.Code, p.Message)
			require.Equal(t, tt.at, f.Pos(p.Start), p.Message)
			require.Contains(t, p.Message, tt.message)
			require.Contains(t, p.Hint, tt.hint)
		})
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"a.json": MaxBytes, "a.yaml": MaxYAMLBytes} {
		f := Parse(name, make([]byte, limit+1))
		require.Nil(t, f.Root)
		require.Equal(t, ProblemTooLarge, f.Problems[0].Code)
		require.Equal(t, Pos{1, 1}, f.Pos(f.Problems[0].Start))
	}
}

func TestYAMLMeansTheSame(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, json string }{
		{
			"scalars", "a: 1\nb: 1.5\nc: true\nd: ~\ne:\nf: 'it''s'\ng: \"a\\nb\"\nh: no\n",
			`{"a":1,"b":1.5,"c":true,"d":null,"e":null,"f":"it's","g":"a\nb","h":"no"}`,
		},
		{"numbers", "- 0x10\n- 0o17\n- 1_000\n- 1.0e+3\n- -2\n- 2.0\n", `[16,15,1000,1000,-2,2]`},
		{"block scalars", "a: |\n  x\n   y\nb: >-\n  x\n  y\nc: |-\n  z\n", `{"a":"x\n y\n","b":"x y","c":"z"}`},
		{"block scalar, CRLF", "a: |\r\n  x\r\n  y\r\n", `{"a":"x\ny\n"}`},
		{"tags", "a: !!str 12\nb: !!int 3\nc: !!str true\n", `{"a":"12","b":3,"c":"true"}`},
		{"alias", "a: &x {b: [1]}\nc: *x\n", `{"a":{"b":[1]},"c":{"b":[1]}}`},
		{"merge", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", `{"a":{"b":1,"c":2},"d":{"c":3,"b":1}}`},
		{"merge of several", "a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: [*x, *y]\n", `{"a":{"b":1},"c":{"b":2,"d":3},"e":{"b":1,"d":3}}`},
		{"keys", "1: a\ntrue: b\n? c\n: d\n", `{"1":"a","true":"b","c":"d"}`},
		{"comments", "# c\na: b # d\n", `{"a":"b"}`},
		{"json inside", "{\"a\": [1, \"b\"]}\n", `{"a":[1,"b"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := Parse("a.yaml", []byte(tt.yaml))
			require.Empty(t, f.Problems)
			require.Equal(t, tt.json, string(f.Root.JSON(nil)))
		})
	}
}

// TestAliasBomb has nine levels of ten aliases each: a billion values in 300 bytes.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		prev := "*a" + string(rune('0'+i-1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(prev+", ", 9) + prev + "]\n")
	}
	f := Parse("bomb.yaml", []byte(b.String()))
	require.Nil(t, f.Root)
	require.Equal(t, ProblemTooLarge, f.Problems[0].Code)
}

func TestFormatWithoutExtension(t *testing.T) {
	t.Parallel()
	for data, yaml := range map[string]bool{"": false, " {}": false, "\ufeff{}": false, "[1]": false, "a: 1": true, "# c\n{}": true} {
		require.Equal(t, yaml, Parse("<stdin>", []byte(data)).yaml, "%q", data)
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, data string
		inside, want     Pos
	}{
		{"json", "a.json", `{"a": "hello"}`, Pos{1, 3}, Pos{1, 10}},
		{"json, escapes before", "a.json", `{"a": "\"\u00e9\ud83d\ude00x"}`, Pos{1, 4}, Pos{1, 28}},
		{"json, second line", "a.json", `{"a": "x\nyz"}`, Pos{2, 2}, Pos{1, 12}},
		{"json, past the end", "a.json", `{"a": "xy"}`, Pos{1, 99}, Pos{1, 10}},
		{"json, past the end of a line", "a.json", `{"a": "x\nyz"}`, Pos{1, 9}, Pos{1, 9}},
		{"yaml plain", "a.yaml", "a: hello\n", Pos{1, 3}, Pos{1, 6}},
		{"yaml quoted", "a.yaml", "a: 'é lo'\n", Pos{1, 3}, Pos{1, 7}},
		{"yaml escapes", "a.yaml", `a: "\"lo"` + "\n", Pos{1, 3}, Pos{1, 4}},
		{"yaml literal", "a.yaml", "a: |\n    one\n    two\n", Pos{2, 2}, Pos{3, 6}},
		{"yaml literal, CRLF", "a.yaml", "a: |\r\n  one\r\n  two\r\n", Pos{2, 3}, Pos{3, 5}},
		{"yaml folded", "a.yaml", "a: >\n  one\n  two\n", Pos{1, 6}, Pos{1, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := Parse(tt.file, []byte(tt.data))
			require.Empty(t, f.Problems)
			require.Equal(t, tt.want, f.Pos(f.Inside(f.Root.Get("a"), tt.inside)))
		})
	}
}

func TestJSONEdits(t *testing.T) {
	t.Parallel()
	f := Parse("a.json", []byte(`{"a": [1, 2, 3.0], "b/c": "<x>", "d": {"e": 1}}`))
	edits := map[string]Edit{"/a/1": Drop, "/b~1c": Keep, "/d/e": Drop, "/a/0": Nullify}
	got := f.Root.JSON(func(p string) Edit { return edits[p] })
	require.Equal(t, `{"a":[null,null,3],"b/c":"<x>","d":{}}`, string(got))
	require.Equal(t, `{"a":[1,2,3],"b/c":"<x>","d":null}`, string(f.Root.JSON(func(p string) Edit {
		if p == "/d" {
			return Nullify
		}
		return Keep
	})))
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		name         string
		snippet      Snippet
		text, carets string
	}{
		{"plain", Snippet{3, 3, 6, `a bcd e`}, "    3 | a bcd e", "      |   ^^^"},
		{"tab", Snippet{3, 2, 4, "\tbc"}, "    3 |  bc", "      |  ^^"},
		{"wide characters", Snippet{12, 3, 4, "日本x"}, "   12 | 日本x", "      |     ^"},
		{"a mark on wide characters", Snippet{12, 1, 3, "日本x"}, "   12 | 日本x", "      | ^^^^"},
		{"end of the line", Snippet{1, 4, 4, "abc"}, "    1 | abc", "      |    ^"},
		{"beyond the line", Snippet{1, 40, 50, "abc"}, "    1 | abc", "      |    ^"},
		{"escape sequence", Snippet{1, 2, 3, "\x1b[31m"}, "    1 | \ufffd[31m", "      |  ^"},
		{"long line", Snippet{1, 201, 204, long}, "    1 | ..." + strings.Repeat("x", 110) + "...", "      | " + strings.Repeat(" ", 39) + "^^^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, carets := tt.snippet.Lines()
			require.Equal(t, tt.text, text)
			require.Equal(t, tt.carets, carets)
		})
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("é", 50) + "x" + strings.Repeat("日", 50)
	f := Parse("a.json", []byte("{}\r\n"+line+"\r\nend"))
	at := 4 + 100
	text, col := f.Around(at, 10)
	require.Equal(t, "éééééx日日日日", text)
	require.Equal(t, 46, col)
	text, col = f.Around(4, 10)
	require.Equal(t, "ééééé", text)
	require.Equal(t, 1, col)
	text, col = f.Around(1, 10)
	require.Equal(t, "{}", text)
	require.Equal(t, 1, col)
	require.Equal(t, 102, f.LineEnd(2))
}
