package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",")
}

func same(text string) func(int) string { return func(int) string { return text } }

// TestSchemasBeyondTheBounds: such a schema is refused for its size, before the library sees it.
func TestSchemasBeyondTheBounds(t *testing.T) {
	t.Parallel()
	nested := `{"type":"string"}`
	for range 13 {
		nested = `{"anyOf":[` + nested + `,` + nested + `]}`
	}
	for name, c := range map[string]struct{ schema, want string }{
		"wide allOf": {
			`{"allOf":[` + list(100_000, same("{}")) + `]}`,
			"the schema has too many subschemas: counted 100001, at most 5000 are checked; split it, or check less with it",
		},
		"boolean subschemas":  {`{"anyOf":[` + list(6000, same("true")) + `]}`, "the schema has too many subschemas: counted 6001"},
		"nested anyOf":        {nested, "the schema has too many subschemas: counted 16383"},
		"many properties":     {`{"properties":{` + list(6000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`, "counted 6002"},
		"deep":                {strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "the schema is nested too deeply: counted 201, at most 200"},
		"many bytes":          {`{"description":"` + strings.Repeat("x", 3<<20) + `"}`, "the schema has too many bytes: counted 3145746"},
		"huge enum":           {`{"enum":[` + list(30_000, func(i int) string { return fmt.Sprint(i) }) + `]}`, "enum has too many values: counted 30000"},
		"enum of lists":       {`{"$schema":"http://json-schema.org/draft-07/schema#","enum":[` + list(9000, func(i int) string { return fmt.Sprintf("[%d]", i) }) + `]}`, "counted 9001"},
		"repetitions":         {`{"pattern":"((a{100}){100}){1000}"}`, ""},
		"repetition":          {`{"pattern":"(a{30}){1000}b{0,1000}"}`, ""},
		"many large patterns": {`{"allOf":[` + list(20, same(`{"pattern":"a{1000}"}`)) + `]}`, "the patterns are too large with their repetitions written out: counted 40000, at most 10000"},
		"patterns of names":   {`{"patternProperties":{` + list(20, func(i int) string { return fmt.Sprintf(`"a%d{1000}":{}`, i) }) + `}}`, "the patterns are too large"},
		"references by name": {
			`{"$defs":{"a":{"$anchor":"a"}},"allOf":[` + list(2400, same(`{"$ref":"#a"}`)) + `]}`,
			"too many references by $anchor for a schema of this size",
		},
		"references into each other": {
			`{"x":` + strings.Repeat(`{"y":`, 100) + `{"allOf":[` + list(2000, same("{}")) + `]}` + strings.Repeat(`}`, 100) + `,"allOf":[` +
				list(100, func(i int) string { return `{"$ref":"#/x` + strings.Repeat("/y", i) + `"}` }) + `]}`,
			"references lead to too many subschemas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile([]byte(c.schema))
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			require.ErrorContains(t, err, c.want)
			if c.want != "" {
				require.Equal(t, KeywordBound, invalid.Violations[0].Keyword)
			}
		})
	}
}

// Each of these schemas is small; without a bound its check takes minutes or all memory.
func TestChecksEnd(t *testing.T) {
	t.Parallel()
	fanOut := func(keyword, leaf string) string {
		return `{"$ref":"#/$defs/d0","$defs":{` + list(30, func(i int) string {
			return fmt.Sprintf(`"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i+1, i+1)
		}) + `,"d30":` + leaf + `}}`
	}
	long := `"` + strings.Repeat("a", 1<<20) + `"`
	names := `{` + list(300_000, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`
	// The library's hash of an item forgets where its parts end.
	alike := `[` + list(1<<15, func(i int) string {
		parts := "a"
		for bit := range 15 {
			if i>>bit&1 == 1 {
				parts += `","` + "a"
			} else {
				parts += `\u0003` + "a"
			}
		}
		return `["` + parts + `"]`
	}) + `]`
	const work = "checking the value takes too much work: ended after 20"
	for name, c := range map[string]struct{ schema, value, want string }{
		"anyOf":             {fanOut("anyOf", `{"type":"string"}`), `1`, work},
		"allOf":             {fanOut("allOf", `{"type":"string"}`), `1`, work},
		"oneOf":             {fanOut("oneOf", `{"type":"string"}`), `1`, work},
		"allOf that fits":   {fanOut("allOf", `{}`), `1`, work},
		"nested values":     {`{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"items":{"$ref":"#/$defs/t"}},{"items":{"$ref":"#/$defs/t"}}],"not":{"const":1}}}}`, strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30), work},
		"wide enum":         {`{"items":{"enum":[` + list(15_000, func(i int) string { return fmt.Sprintf(`"value %d"`, i) }) + `]}}`, `[` + list(20_000, same("0")) + `]`, work},
		"long text":         {`{"pattern":"(a?){500}b"}`, long, "the schema's patterns are too large for a text of this length"},
		"patterns of names": {`{"patternProperties":{` + list(100, func(i int) string { return fmt.Sprintf(`"x%d$":{}`, i) }) + `}}`, names, "patternProperties has too many patterns for this number of properties: counted 30000000"},
		"deep value":        {`{"items":{"$ref":"#"}}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "the value is nested too deeply: counted 5000, at most 1000"},
		"unique items":      {`{"uniqueItems":true}`, alike, ""},
		"number in a text":  {`{"$schema":"http://json-schema.org/draft-07/schema#","contentMediaType":"application/json","contentSchema":{"type":"integer"}}`, `"1e999999999"`, "value is not of mediatype"},
		"pattern as value":  {`{"items":{"format":"regex"}}`, `[` + list(2000, same(`"(a{30}){30}"`)) + `]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile([]byte(c.schema))
			require.NoError(t, err)
			violations, err := s.Validate([]byte(c.value))
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, violations)
				return
			}
			require.Len(t, violations, 1)
			require.Contains(t, violations[0].Message, c.want)
		})
	}
}

// leaving is a context that ends after it was looked at so many times.
type leaving struct {
	context.Context //nolint:containedctx // it is one
	looks, after    int
}

func (l *leaving) Err() error {
	if l.looks++; l.looks > l.after {
		return context.Canceled
	}
	return nil
}

func TestChecksEndWithTheirContext(t *testing.T) {
	t.Parallel()
	value := []byte(`{"cascade_id":"a","phases":[` + list(5000, func(i int) string {
		return fmt.Sprintf(`{"name":"p%d","instructions":"x"}`, i)
	}) + `]}`)
	ctx := &leaving{Context: t.Context(), after: 3}
	_, err := Cascade().ValidateContext(ctx, value)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "check a value against its schema: context canceled")
	require.Equal(t, 4, ctx.looks)

	violations, err := Cascade().Validate(value)
	require.NoError(t, err)
	require.Empty(t, violations, "the form that was lent is as good as new")
}

func TestChecksAtOnceDoNotShareTheirCount(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"items":{"type":"integer"}}`))
	require.NoError(t, err)
	value := []byte(`[` + list(5_000, same("1")) + `]`)
	var wg sync.WaitGroup
	for range 2 * maxKept {
		wg.Go(func() {
			for range 2 {
				violations, err := s.Validate(value)
				if err != nil || len(violations) > 0 {
					t.Errorf("%v %v", violations, err)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, len(s.free), maxKept)
}

// TestUniqueItems holds our check against the words of the standard.
func TestUniqueItems(t *testing.T) {
	t.Parallel()
	for value, unique := range map[string]bool{
		`[1, 2, 3]`: true, `[1, 1.0]`: false, `[1, 10e-1]`: false, `["1", 1]`: true, `[true, "true"]`: true, `[null, "null", false]`: true,
		`[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]`: false, `[["a", "b"], ["a,b"]]`: true, `[["a\",\"b"], ["a", "b"]]`: true, `[{}, []]`: true,
		`[[], []]`: false, `[[1], [[1]]]`: true, `[-1, 1]`: true, `["é", "\u00e9"]`: false, `[{"a": 1}, {"a:1": 1}]`: true, `[]`: true,
	} {
		for _, wrap := range []string{`{"uniqueItems": true}`, `{"$ref": "#/$defs/u", "$defs": {"u": {"uniqueItems": true}}}`} {
			s, err := Compile([]byte(wrap))
			require.NoError(t, err)
			violations, err := s.Validate([]byte(value))
			require.NoError(t, err)
			if unique {
				require.Empty(t, violations, value)
			} else {
				require.Equal(t, []Violation{{Keyword: "uniqueItems", Message: "two items are equal, all must differ"}}, violations, value)
			}
		}
	}
}

// TestLargeHonestValues: what people check stays checked.
func TestLargeHonestValues(t *testing.T) {
	t.Parallel()
	const record = `{"type":"object","required":["id","name","tags"],"additionalProperties":false,"properties":{
		"id":{"type":"integer","minimum":1},"name":{"type":"string","pattern":"^[a-z][a-z0-9 -]{0,63}$"},
		"tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true},"at":{"format":"date-time"},
		"of":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`
	s, err := Compile([]byte(`{"type":"array","uniqueItems":true,"items":` + record + `}`))
	require.NoError(t, err)
	violations, err := s.Validate([]byte(`[` + list(20_000, func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"record %d","tags":["a","b"],"at":"2026-01-31T10:00:00Z","of":null}`, i+1, i)
	}) + `]`))
	require.NoError(t, err)
	require.Empty(t, violations)
}

func TestExcerptsAreCheapAndTheSame(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b":[1,2.50,"<é>"],"a":null,"c":{}}`:   `{"a":null,"b":[1,2.50,"<é>"],"c":{}}`,
		`"a\u0000\"\\"`:                          `"a\u0000\"\\"`,
		`[` + list(100_000, same(`"漢"`)) + `]`:   `[` + list(20, same(`"漢"`))[:0] + string([]rune(list(30, same(`"漢"`)))[:79]) + `...`,
		`"` + strings.Repeat("漢", 100_000) + `"`: `"` + strings.Repeat("漢", 79) + `...`,
	} {
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		require.NoError(t, d.Decode(&v))
		require.Equal(t, want, excerpt(v))
	}
}

// FuzzBounds: whatever schema meets whatever value, the check ends.
func FuzzBounds(f *testing.F) {
	for _, s := range []string{
		`{"$ref":"#"}`, `{"items":{"$ref":"#"},"uniqueItems":true}`, `{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#"}}}`,
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"pattern":"(a{9}){9}"}`, `{"$recursiveRef":"#","$recursiveAnchor":true}`,
	} {
		f.Add([]byte(s), []byte(`[[1],{"a":[]},"x",1e9]`))
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		s, err := Compile(raw)
		if err != nil {
			return
		}
		first, err := s.Validate(value)
		again, errAgain := s.Validate(value)
		require.Equal(t, first, again)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain))
	})
}
