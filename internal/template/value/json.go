package value

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonWriter encodes values, which may share parts, under the limits of a run.
type jsonWriter struct {
	run    *Run
	buf    []byte
	indent string
}

func (w *jsonWriter) value(v any, depth int) {
	w.run.Spend(1)
	if len(w.buf) > maxOutput {
		panic(tooLong())
	}
	checkDepth(depth)
	switch x := Plain(v).(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, x)
	case int64:
		w.buf = strconv.AppendInt(w.buf, x, 10)
	case float64:
		number, _ := json.Marshal(x) // it is finite; 2.0 is written as 2
		w.buf = append(w.buf, number...)
	case json.Number:
		w.buf = append(w.buf, x...)
	case string:
		w.run.SpendBytes(len(x))
		w.buf = appendJSONString(w.buf, x)
	case []any:
		w.group("[]", len(x), depth, func(i int) { w.value(x[i], depth+1) })
	case map[string]any:
		names := slices.Sorted(maps.Keys(x))
		w.group("{}", len(names), depth, func(i int) { w.member(names[i], x[names[i]], depth+1) })
	default:
		panic(NotPlain())
	}
}

// group writes n items between two brackets, with commas between them.
func (w *jsonWriter) group(brackets string, n, depth int, item func(i int)) {
	w.buf = append(w.buf, brackets[0])
	for i := range n {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.newline(depth + 1)
		item(i)
	}
	if n > 0 {
		w.newline(depth)
	}
	w.buf = append(w.buf, brackets[1])
}

func (w *jsonWriter) member(name string, v any, depth int) {
	w.buf = append(appendJSONString(w.buf, name), ':')
	if w.indent != "" {
		w.buf = append(w.buf, ' ')
	}
	w.value(v, depth)
}

func (w *jsonWriter) newline(depth int) {
	if w.indent != "" {
		w.buf = append(w.buf, "\n"+strings.Repeat(w.indent, depth)...)
	}
}

func appendJSONString(dst []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// QuoteJSON returns s as a string of JSON.
func QuoteJSON(s string) string { return string(appendJSONString(nil, s)) }
