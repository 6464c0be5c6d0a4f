package echo

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sameAsJSON holds that an entry and its selection are encoded as encoding/json encodes them, or
// refused with the same error.
func sameAsJSON(t *testing.T, e *Entry) {
	t.Helper()
	const before = "before"
	want, wrong := json.Marshal(e)
	got, err := e.AppendJSON([]byte(before))
	require.Equal(t, before+string(want), string(got))
	requireSameError(t, wrong, err)
	if e.Selection == nil {
		return
	}
	want, wrong = json.Marshal(e.Selection)
	got, err = e.Selection.AppendJSON(nil)
	require.Equal(t, string(want), string(got))
	requireSameError(t, wrong, err)
}

func requireSameError(t *testing.T, want, got error) {
	t.Helper()
	if want == nil {
		require.NoError(t, got)
		return
	}
	require.EqualError(t, got, want.Error())
}

// hostileTexts have what JSON, HTML or JavaScript would not take as it is.
var hostileTexts = []string{
	"", "plain", "quotes \" and \\ and /", "<b>&amp;</b>", "line\nends\r\t\b\f", "\x00\x01\x1f\x7f", "\u2028\u2029", "\u2027\u202a\u00e9\U0001F600",
	"\xff", "\xe2\x80", "\xed\xa0\x80", "cut \xe2", "{", `,"message":`, strings.Repeat("x", 3000),
}

func TestEntriesAreEncodedAsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range hostileTexts {
		e := &Entry{SessionID: text, NodeType: NodeType(text), CascadeID: text, Model: text, RequestHash: text, Tool: &ToolUse{Arguments: text}}
		e.Message = Seal(Draft{Role: RoleUser, Parts: []Part{{Type: PartText, Text: text}, {Type: PartImage, URL: text}}, Tool: text})
		e.Error = &Failure{Kind: text, Message: text}
		sameAsJSON(t, e)
	}
	for _, data := range []string{`{}`, `null`, ` { "a" : "<" } `, `"\u003c"`, "\"\u2028\"", "\"\u00e2\"", `{"a":1`, `1 2`, "\"\xff\"", `[1e5,-0]`} {
		sameAsJSON(t, &Entry{Data: json.RawMessage(data)})
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 1e-7, 9.99e-7, 1e20, 1e21, 1e100, 5e-324, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)} {
		sameAsJSON(t, &Entry{CostUSD: &f, Pretend: &Pretend{"m", f}, DurationMS: f, Selection: &Selection{SentUSD: &f, FullUSD: &f, PriceAs: "m"}})
	}
	for _, at := range []time.Time{{}, time.Unix(0, 1000).UTC(), time.Unix(1e10, 0), time.Unix(1e15, 0), time.Unix(5, 0).In(time.FixedZone("", 3601))} {
		sameAsJSON(t, &Entry{At: at})
	}
	sameAsJSON(t, &Entry{Selection: &Selection{Spans: []Span{
		{}, {Hashes: []Hash{}, Tokens: []int64{}, Sent: [][]*Message{}}, {Sent: [][]*Message{nil, {}, {nil, NewText(RoleUser, KindTask, "<")}}},
	}}})
}

// fill makes a value at random, with nothing in it as often as with something.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[Key]():
		v.Set(reflect.ValueOf([]Key{{}, RunKey(), MustKey("a~2/sounding2/attempt1/turn3/tool2"), PhaseKey("<é & b>", 1)}[r.IntN(4)]))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.UnixMicro(r.Int64N(1e16)).UTC()))
		return
	case reflect.TypeFor[Message]():
		d := reflect.New(reflect.TypeFor[Draft]()).Elem()
		fill(r, d)
		v.Set(reflect.ValueOf(Seal(d.Interface().(Draft))).Elem())
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte([]string{"", `{"a":1}`, `{ "a": "<" }`, `"\u2028"`, `[1`}[r.IntN(5)]))
		return
	}
	switch v.Kind() { //nolint:exhaustive // what else there is stays zero
	case reflect.String:
		v.SetString(hostileTexts[r.IntN(len(hostileTexts))])
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(64) * int64(r.IntN(3)-1))
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 0.1, r.NormFloat64(), r.Float64() * 1e-7, r.Float64() * 1e30}[r.IntN(6)])
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(3) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(r, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{"<", 1.5, map[string]any{"b": nil, "a": []any{true}}}[r.IntN(3)]))
	}
}

func TestRandomEntriesAreEncodedAsJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		e := &Entry{}
		fill(r, reflect.ValueOf(e).Elem())
		sameAsJSON(t, e)
	}
}

// turnPayloads are those with an appender.
var turnPayloads = []Payload{
	Carry{}, Guard{}, ModelCall{}, Verdict{}, State{}, CalloutMark{}, Warning{}, Clock(0), BackgroundTotals{}, Idle{},
}

// rarePayloads are written a few times in a run, or in a phase, at most.
var rarePayloads = map[string]bool{
	"RunStart": true, "RunEnd": true, "Resume": true, "Route": true, "PhaseStart": true, "PhaseEnd": true, "Handoff": true, "ModelFacts": true,
	"InterSelection": true, "Findings": true, "Menu": true, "Similarity": true, "ChildStart": true, "ChildEnd": true, "Stopped": true, "FoundCascade": true,
	"Candidate": true, "Seed": true, "WinningRewrites": true, "Room": true, "Ballot": true, "Choice": true,
	"Wait": true, "Answer": true, "Fired": true, "Artifact": true, "ArtifactsFound": true, "Audible": true, "ViewChange": true, "MemoryStart": true, "MemoryCall": true, "MemosStart": true, "MemoCall": true, "MemosBrought": true, "ProjectFile": true,
}

func TestRandomPayloadsAreEncodedAsJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range turnPayloads {
		for range 1000 {
			v := reflect.New(reflect.TypeOf(p)).Elem()
			fill(r, v)
			made := v.Interface().(Payload)
			require.Implements(t, (*appender)(nil), made)
			want, wrong := json.Marshal(made)
			got, err := encodePayload(made)
			require.Equal(t, string(want), string(got))
			requireSameError(t, wrong, err)
		}
	}
	got, err := encodePayload(Clock(math.NaN()))
	require.Nil(t, got)
	require.EqualError(t, err, "json: unsupported value: NaN")
}

// Every payload has an appender, or is known to be rare.
func TestPayloadsHaveAppenders(t *testing.T) {
	t.Parallel()
	appended := map[string]bool{}
	for _, p := range turnPayloads {
		appended[reflect.TypeOf(p).Name()] = true
	}
	names, err := os.ReadDir(".")
	require.NoError(t, err)
	found := 0
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".go") || strings.HasSuffix(n.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), n.Name(), nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "kind" {
				continue
			}
			found++
			name := f.Recv.List[0].Type.(*ast.Ident).Name
			require.NotEqual(t, appended[name], rarePayloads[name],
				"%s: write an appender in encode_data.go and add it to turnPayloads, or add it to rarePayloads when a turn never writes it", name)
		}
	}
	require.Len(t, turnPayloads, found-len(rarePayloads))
}

func FuzzEntriesAreEncodedAsJSON(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, []byte(`{"a":"<"}`), 1.5, int64(3), true)
	}
	f.Fuzz(func(t *testing.T, text string, data []byte, number float64, n int64, yes bool) {
		m := Seal(Draft{Role: Role(text), Parts: Text(text), ToolCalls: []ToolCall{{ID: text, Name: text, Arguments: text}}, Failed: yes})
		sameAsJSON(t, &Entry{
			SessionID: text, Seq: uint64(n), At: time.UnixMicro(n).UTC(), NodeType: NodeType(text), Message: m, ContentHash: m.Hash(),
			Turn: int(n), Scripted: yes, Usage: &Usage{In: n, Cached: n, Estimated: yes}, CostUSD: &number, DurationMS: number, Data: data,
			Selection: &Selection{Limit: n, SentUSD: &number, Delta: yes, Spans: []Span{{Form: text, Hashes: []Hash{Hash(text)}, Tokens: []int64{n}, Sent: [][]*Message{{m}}}}},
		})
	})
}
