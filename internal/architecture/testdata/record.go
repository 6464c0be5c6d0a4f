// Package fixture does what the rules of the record forbid, and what looks like it.
package fixture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

type wrapped struct{ *echo.Entry }

type other struct{ Data json.RawMessage }

var entry = echo.Entry{Data: json.RawMessage(`{}`)} // want data

func data(e *echo.Entry, w wrapped, o other) {
	var d struct{ Status string }
	_ = json.Unmarshal(e.Data, &d) // want data json.Unmarshal
	_ = len(w.Data)                // want data
	e.Data = nil                   // want data
	alias := &e.Data               // want data
	_ = alias

	_ = json.Unmarshal(o.Data, &d)
	_, _ = echo.Read[echo.RunEnd](e)
	e.Set(echo.RunEnd{})
	_, _ = json.Marshal(e)
}

type effects interface {
	Value(ctx context.Context, key echo.Key, read func() echo.Payload) (json.RawMessage, error)
}

type answer struct {
	raw   json.RawMessage
	Given json.RawMessage
	Row   json.RawMessage `ch:"data_json"`
}

func newAnswer(e *echo.Entry) (*answer, error) {
	return &answer{raw: e.Data}, nil // want data
}

func (a *answer) bytes() []byte { return []byte(a.raw) }

func decode(raw json.RawMessage, into any) error {
	return json.Unmarshal(raw, into) // want json.Unmarshal
}

func must[T any](v T, _ error) T { return v }

func bareData(ctx context.Context, k echo.Key, e *echo.Entry, with effects, list []json.RawMessage) {
	var d map[string]any
	raw, err := with.Value(ctx, k, nil)
	_ = json.Unmarshal(raw, &d) // want json.Unmarshal
	copied := bytes.Clone(raw)
	_ = json.NewDecoder(bytes.NewReader(copied)).Decode(&d) // want json.NewDecoder
	_ = decode(raw, &d)
	a, _ := newAnswer(e)
	_ = json.Unmarshal(a.bytes(), &d) // want json.Unmarshal
	_ = json.Unmarshal(a.Row, &d)     // want json.Unmarshal
	_ = bytes.Contains(raw, nil)      // want bytes.Contains
	for _, one := range append(list, raw) {
		_ = json.Unmarshal(one, &d) // want json.Unmarshal
	}
	var m echo.Message
	_ = m.UnmarshalJSON(raw) // want (*echo.Message).UnmarshalJSON

	limited := io.LimitReader(strings.NewReader(string(raw)), 9)
	_ = json.NewDecoder(limited).Decode(&d) // want json.NewDecoder
	read := with.Value
	bare, _ := read(ctx, k, nil)
	_ = json.Unmarshal(bare, &d)                          // want json.Unmarshal
	_ = json.Unmarshal(must(with.Value(ctx, k, nil)), &d) // want json.Unmarshal
	all, _ := json.Marshal(e)
	_ = json.Unmarshal(all, e)
	_ = json.Unmarshal(all, &d) // want json.Unmarshal

	_, err = echo.Decode[echo.Clock](raw)
	_ = json.Unmarshal([]byte(err.Error()), &d)
	_ = json.Unmarshal(a.Given, &d)
	_ = json.Unmarshal(list[0], &d)
	_, _ = json.Marshal(raw)
}

var turn = regexp.MustCompile(`turn(\d+)`)

func keys(k, parent echo.Key) {
	_ = strings.Split(k.String(), "/")                         // want strings.Split
	_, _, _ = strings.Cut(string([]byte(k.String())), "/")     // want strings.Cut
	_ = strings.HasPrefix("x", k.From(parent))                 // want strings.HasPrefix
	_ = turn.FindStringSubmatch(k.String())                    // want (*regexp.Regexp).FindStringSubmatch
	_, _ = regexp.MatchString("x", k.VisitKey().String())      // want regexp.MatchString
	_ = k.String()[1:]                                         // want a slice
	_ = k.String()[0]                                          // want an index
	_ = path.Base(fmt.Sprint(k))                               // want path.Base
	_, _ = fmt.Sscanf(fmt.Sprintf("%s", k), "%s", new(string)) // want fmt.Sscanf
	for range k.String() {                                     // want a loop
	}
	text := k.String()
	again := text
	_ = strings.TrimSuffix(again, "/end") // want strings.TrimSuffix
	declared, b := k.String(), []byte(again)
	_ = strings.Index(declared, "/") // want strings.Index
	_ = bytes.HasSuffix(b, nil)      // want bytes.HasSuffix
	if later := ""; later == "" {
		later = text
		func() { _ = strings.Fields(later) }() // want strings.Fields
	}
}

const call = "draft/attempt1/turn1/model"

var isCall = map[string]bool{call: true}

func compared(k echo.Key, list []string) {
	_ = k.String() == "run"  // want a comparison
	_ = call != k.String()   // want a comparison
	_ = k.String() > "draft" // want a comparison
	switch k.String() {      // want a switch
	case "run":
	}
	switch text := k.String(); {
	case text == call: // want a comparison
	}
	_ = isCall[k.String()]                            // want a map with literals
	_ = map[string]int{"run": 1}[k.String()]          // want a map with literals
	_ = slices.Contains([]string{"run"}, k.String())  // want slices.Contains with a literal
	_ = slices.Index(append(list, k.String()), "run") // want slices.Index with a literal
	_ = strings.EqualFold(k.String(), call)           // want strings.EqualFold
	_ = bytes.Equal([]byte(call), []byte(k.String())) // want bytes.Equal
	seen := map[string]bool{k.String(): true}
	_ = seen["run"] // want a map with literals
	for text := range seen {
		_ = text == "run" // want a comparison
	}
	for _, text := range slices.Sorted(maps.Keys(seen)) {
		_ = text
	}
}

type line struct {
	place, title string
	column       string `ch:"key"`
}

type generic[T any] struct{ of T }

func textOf(e *echo.Entry) string { return e.Key.String() }

func namedOf(k echo.Key) (text string, ok bool) {
	text = k.String()
	return
}

func isEnd(text, title string) bool {
	_ = strings.HasSuffix(title, "/end")
	return strings.HasSuffix(text, "/end") // want strings.HasSuffix
}

func any1[T ~string](list ...T) bool { return list[0] == "run" } // want a comparison

func throughOthers(e *echo.Entry, k echo.Key) {
	_ = strings.Split(textOf(e), "/") // want strings.Split
	text, _ := namedOf(k)
	_ = text == "run" // want a comparison
	_ = isEnd(k.String(), "")
	_ = any1("", k.String())
	ends := func(text string) bool { return text == call } // want a comparison
	_ = ends(textOf(e))

	l := line{place: k.String(), title: "run"}
	_ = strings.Split(l.place, "/")  // want strings.Split
	_ = strings.Split(l.column, "/") // want strings.Split
	g := generic[string]{of: k.String()}
	_ = g.of == "run" // want a comparison
	lines := []string{textOf(e)}
	_ = lines[0][1:] // want a slice
	byText := map[int]string{}
	byText[1] = k.String()
	_ = byText[1] == "run" // want a comparison
	if v, ok := any(k.String()).(string); ok {
		_ = v == "run" // want a comparison
	}
	raw, _ := k.MarshalText()
	_ = bytes.Split(raw, []byte("/")) // want bytes.Split
	quoted, _ := json.Marshal(k)
	_ = bytes.Contains(quoted, []byte("/turn1")) // want bytes.Contains

	_ = strings.Split(l.title, "/")
	_ = ends == nil
}

func pasted(k echo.Key, phase string) {
	_ = k.String() + "/end"                                 // want pasting
	_ = phase + "/" + k.String()                            // want pasting
	_ = fmt.Sprintf("%d: %s/turn%d", 1, k, 2)               // want pasting
	_ = strings.Join([]string{k.String(), "turn1"}, "/")    // want pasting
	_, _ = echo.ParseKey(phase + "/attempt1")               // want echo.ParseKey of texts put together
	_ = echo.MustKey(fmt.Sprintf("%s/attempt%d", phase, 1)) // want echo.MustKey of texts put together
	text := phase + "~2"
	_ = k.UnmarshalText([]byte(text)) // want (*echo.Key).UnmarshalText of texts put together

	_, _ = echo.ParseKey(phase)
	_ = echo.MustKey("draft/attempt1")
	_ = echo.MustKey(call)
	_ = fmt.Sprintf("%s in %s/", k, phase)
	_ = "https://x/" + phase + k.String()
}

const queries = `SELECT session_id, key FROM logs ORDER BY key
	WHERE splitByChar('/', key)[1] = 'draft'` // want SQL: splitByChar

func sql(k echo.Key) []string {
	return []string{
		"SELECT count() FROM logs WHERE l.key LIKE ?", // want SQL: LIKE
		"SELECT match(l.key, '/turn1')" + queries,     // want SQL: match
		" AND key = '" + k.String() + "'",
		"SELECT phase_name, attempt FROM logs WHERE key = ? AND position(title, 'key') > 0",
	}
}

var (
	ends    = strings.NewReplacer("/end", "")
	whole   = "run"
	nothing string
)

func lessPlain(k echo.Key) {
	_ = ends.Replace(k.String())                   // want (*strings.Replacer).Replace
	_ = []rune(k.String())[0]                      // want an index
	_ = fmt.Appendf(nil, "%s/end", k)              // want pasting
	_ = strings.TrimSuffix(fmt.Sprintln(k), "end") // want strings.TrimSuffix
	_ = k.String() == whole                        // want a comparison
	quoted, _ := json.Marshal(k)
	var text string
	_ = json.Unmarshal(quoted, &text)
	_ = strings.Split(text, "/") // want strings.Split

	_ = ends.Replace("end") == whole
	_ = k.String() == nothing
	_ = fmt.Appendf(nil, "%s: end", k)
	var b strings.Builder
	b.WriteString(k.String())
}

func fine(k, o echo.Key) string {
	p := k.Path()
	_ = strings.HasPrefix(p.Phase, "x")
	_ = k == echo.RunKey() || k == echo.MustKey("run") || k.String() == o.String() || k.String() == "" || k.String() < o.String()
	_ = strings.Join([]string{k.String(), "x"}, " ")
	_ = strings.Compare(k.String(), "x")
	_ = strings.TrimSpace("at " + p.Phase)
	seen := map[string]bool{k.String(): true}
	_ = seen[k.String()]
	_ = isCall[p.Phase]
	_ = slices.Contains([]string{"run"}, p.Phase) || slices.Contains([]string{o.String()}, k.String())
	_ = fmt.Sprintf("%s: %s", k, strings.ToUpper("x"))[1:]
	return "visit " + k.String()
}
