package form

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/waits"
)

var update = flag.Bool("update", false, "write the golden files")

func plain(_ term.Colour, text string) string { return text }

func waitOf(f echo.Form) *waits.Wait {
	if f.Question == "" {
		f.Question = "Well?"
	}
	return &waits.Wait{ID: "7k2mq0a1b2", Place: waits.Place{Session: "ship", Phase: "prepare"}, Kind: echo.WaitQuestion, Form: &f, Asked: f.Question}
}

func approvalOf(args string) *waits.Wait {
	w := waiting.Approval(echo.AwaitedCall{
		Tool: "deploy", Arguments: json.RawMessage(args), Cascade: "0123456789abcdef",
		Schema: json.RawMessage(`{"type":"object","required":["to"],"properties":{"to":{"enum":["prod","staging"]}}}`),
	})
	return &waits.Wait{ID: "7k2mq0a1b2", Place: waits.Place{Session: "ship", Phase: "prepare"}, Kind: w.Kind, Form: w.Form, Call: w.Call, Shown: w.Shown}
}

// press gives a form keys as a terminal sends them. A lone escape is "<esc>".
func press(f *Form, sent ...string) {
	var d keys.Decoder
	for _, s := range sent {
		if s == "<esc>" {
			f.Key(keys.Key{Name: keys.Escape})
			continue
		}
		for _, k := range d.Feed([]byte(s)) {
			f.Key(k)
		}
	}
}

const (
	up, down, right = "\x1b[A", "\x1b[B", "\x1b[C"
	enter           = "\r"
)

var (
	three = []echo.Option{{ID: "a", Label: "The first"}, {ID: "b"}, {ID: "c", Description: "the last one"}}
	abc   = []echo.Offered{{Label: "A", Text: "one"}, {Label: "B", Text: "two"}, {Label: "C", Text: "three"}}
)

// TestAnswers has for each kind of form keys and what they say, as it is recorded.
func TestAnswers(t *testing.T) {
	t.Parallel()
	form := echo.Form{Kind: echo.FormFields, Fields: []echo.Field{
		{Name: "who", Label: "Who is it?", Kind: echo.FormText, Required: true}, {Name: "sure", Kind: echo.FormConfirmation}, {Name: "which", Kind: echo.FormChoice, Options: three, Required: true},
	}}
	const call = `{"note":"<b>","to":"prod"}`
	for name, c := range map[string]struct {
		wait  *waits.Wait
		keys  []string
		want  string
		grant echo.GrantScope
	}{
		"yes by its key":        {waitOf(echo.Form{Kind: echo.FormConfirmation}), []string{"y"}, `true`, ""},
		"no by arrows":          {waitOf(echo.Form{Kind: echo.FormConfirmation}), []string{down, enter}, `false`, ""},
		"choice by arrows":      {waitOf(echo.Form{Kind: echo.FormChoice, Options: three}), []string{down, down, enter}, `"c"`, ""},
		"choice around":         {waitOf(echo.Form{Kind: echo.FormChoice, Options: three}), []string{up, enter}, `"c"`, ""},
		"choice by a digit":     {waitOf(echo.Form{Kind: echo.FormChoice, Options: three}), []string{"2", enter}, `"b"`, ""},
		"choice of one's own":   {waitOf(echo.Form{Kind: echo.FormChoice, Options: three, Custom: true}), []string{"4", enter, "another", enter}, `"another"`, ""},
		"custom, but an option": {waitOf(echo.Form{Kind: echo.FormChoice, Options: three, Custom: true}), []string{"4", enter, "x", "<esc>", "1", enter}, `"a"`, ""},
		"several":               {waitOf(echo.Form{Kind: echo.FormMultiChoice, Options: three}), []string{" ", "3", enter}, `["a","c"]`, ""},
		"several, one unmarked": {waitOf(echo.Form{Kind: echo.FormMultiChoice, Options: three}), []string{"1", "2", "1", enter}, `["b"]`, ""},
		"rating by a digit":     {waitOf(echo.Form{Kind: echo.FormRating, Most: 5}), []string{"9", "4", enter}, `4`, ""},
		"rating by arrows":      {waitOf(echo.Form{Kind: echo.FormRating, Most: 5}), []string{right, right, enter}, `2`, ""},
		"text":                  {waitOf(echo.Form{Kind: echo.FormText}), []string{"hallo l", enter}, `"hallo l"`, ""},
		"text of lines":         {waitOf(echo.Form{Kind: echo.FormText}), []string{"one\x1b\rtwo\nthree", enter}, `"one\ntwo\nthree"`, ""},
		"pasted text":           {waitOf(echo.Form{Kind: echo.FormText}), []string{"a \x1b[200~one\r\n\x1b[31mtwo\x1b[201~", enter}, `"a one\n[31mtwo"`, ""},
		"text after mistakes":   {waitOf(echo.Form{Kind: echo.FormText}), []string{"wrng\x7f\x7f\x7frong\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[3~W\x05 word\x17place", enter}, `"Wrong place"`, ""},
		"review":                {waitOf(echo.Form{Kind: echo.FormReview}), []string{"y", enter}, `{"approved":true}`, ""},
		"review with feedback":  {waitOf(echo.Form{Kind: echo.FormReview}), []string{"n", "too short", enter}, `{"approved":false,"feedback":"too short"}`, ""},
		"form":                  {waitOf(form), []string{"me", enter, "n", down, enter}, `{"sure":false,"which":"b","who":"me"}`, ""},
		"form without a field":  {waitOf(form), []string{"me", enter, "\t", enter}, `{"which":"a","who":"me"}`, ""},
		"form, gone back":       {waitOf(form), []string{"me", enter, "<esc>", "!", enter, "y", "<esc>", "n", enter}, `{"sure":false,"which":"a","who":"me!"}`, ""},
		"candidate":             {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseOne}}), []string{"b"}, `{"winner":"B"}`, ""},
		"none of them": {
			waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseOne, Tie: true, Reject: true, Reason: true}}),
			[]string{"5", enter, "all bad", enter},
			`{"why":"all bad","winner":"none"}`, "",
		},
		"ranking":                {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRank}}), []string{"c", "a", "\x7f", "b", "a", enter}, `{"ranking":["C","B","A"]}`, ""},
		"ratings":                {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRate}}), []string{"1", enter, "2", enter, "5", enter}, `{"ratings":{"A":1,"B":2,"C":5}}`, ""},
		"allow":                  {approvalOf(call), []string{"a", enter}, `{"decision":"allow"}`, ""},
		"allow session":          {approvalOf(call), []string{"s", enter}, `{"decision":"allow"}`, echo.GrantSession},
		"allow cascade":          {approvalOf(call), []string{down, down, down, enter}, `{"decision":"allow"}`, echo.GrantCascade},
		"deny":                   {approvalOf(call), []string{"d", enter}, `{"decision":"deny"}`, ""},
		"deny why":               {approvalOf(call), []string{"d", "not on a Friday", enter}, `{"decision":"deny","reason":"not on a Friday"}`, ""},
		"edit":                   {approvalOf(call), []string{"e", strings.Repeat(down, 2) + "\x05" + strings.Repeat("\x7f", 5) + "staging\"", "\x04", enter}, `{"arguments":{"note":"<b>","to":"staging"},"decision":"edit"}`, ""},
		"edit of what is hidden": {approvalOf(`{"note":"a\u202e` + "\u200b\ufe0f" + `","to":"prod"}`), []string{"e", strings.Repeat(down, 2) + "\x05" + strings.Repeat("\x7f", 5) + "staging\"", "\x04", enter}, `{"arguments":{"note":"a` + "\u202e\u200b\ufe0f" + `","to":"staging"},"decision":"edit"}`, ""},
		"edit, then allow":       {approvalOf(call), []string{"e", "<esc>", "a", enter}, `{"decision":"allow"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := New(c.wait)
			press(f, c.keys...)
			require.Equal(t, Answered, f.State(), strings.Join(f.Lines(80, 20, plain), "\n"))
			got := f.Answer()
			text, err := json.Marshal(got.Value)
			require.NoError(t, err)
			require.Equal(t, c.want, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)))
			require.Equal(t, c.grant, got.Grant)
			_, err = waits.Check(c.wait, got.Value)
			require.NoError(t, err, "it is taken")
			f.Key(keys.Of('x'))
			require.Equal(t, Answered, f.State(), "what is pressed then changes nothing")
		})
	}
}

// TestStays has keys that answer nothing yet, and what is said of them.
func TestStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait *waits.Wait
		keys []string
		says string
	}{
		"a key that was meant for something else":  {approvalOf(`{"to":"prod"}`), []string{enter}, "✗ an answer is needed"},
		"words that were meant for something else": {approvalOf(`{"to":"prod"}`), []string{"no rush", enter}, "✗ an answer is needed"},
		"allow without Enter":                      {approvalOf(`{"to":"prod"}`), []string{"a"}, "▸ a  allow this call"},
		"an edit that does not fit":                {approvalOf(`{"to":"prod"}`), []string{"e", strings.Repeat("\x1b[3~", 50), `{"to":"mars"}`, "\x04"}, "✗ the arguments do not match the schema of deploy"},
		"an edit that is no JSON":                  {approvalOf(`{"to":"prod"}`), []string{"e", "x", "\x04"}, "✗ the arguments are no JSON: invalid character 'x'"},
		"an edit that changes nothing":             {approvalOf(`{"to":"prod"}`), []string{"e", "\x04"}, "✗ the arguments are the ones that were shown: allow the call, or change something"},
		"an edit of two values":                    {approvalOf(`{"to":"prod"}`), []string{"e", "{}", "\x04"}, "✗ the arguments are more than one JSON value"},
		"an edit before it is sent":                {approvalOf(`{"to":"prod"}`), []string{"e", strings.Repeat("\x1b[3~", 50), `{"to":"staging"}`, "\x04"}, "+  \"to\": \"staging\""},
		"no text":                                  {waitOf(echo.Form{Kind: echo.FormText}), []string{"  ", enter}, "✗ an answer is needed"},
		"none of several":                          {waitOf(echo.Form{Kind: echo.FormMultiChoice, Options: three}), []string{enter}, "✗ an answer is needed"},
		"no rating":                                {waitOf(echo.Form{Kind: echo.FormRating, Most: 5}), []string{"6", "0", enter}, "✗ an answer is needed"},
		"half a ranking":                           {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRank}}), []string{"b", enter}, "The best first: B"},
		"a signal":                                 {&waits.Wait{ID: "7k2mq0a1b2", Kind: echo.WaitSignal, Signal: "go", Asked: `signal "go"`}, []string{enter, "x"}, "Send it: windlass signal go --session "},
		"a required field":                         {waitOf(echo.Form{Kind: echo.FormFields, Fields: []echo.Field{{Name: "who", Kind: echo.FormText, Required: true}}}), []string{"\t", enter}, "✗ an answer is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := New(c.wait)
			press(f, c.keys...)
			require.Equal(t, Open, f.State())
			require.Contains(t, strings.Join(f.Lines(100, 30, plain), "\n"), c.says)
		})
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait *waits.Wait
		keys []string
		want State
	}{
		"escape":             {approvalOf(`{}`), []string{"<esc>"}, Left},
		"l":                  {approvalOf(`{}`), []string{"l"}, Left},
		"l in a text":        {waitOf(echo.Form{Kind: echo.FormText}), []string{"l"}, Open},
		"escape in a text":   {waitOf(echo.Form{Kind: echo.FormText}), []string{"l", "<esc>"}, Left},
		"escape goes back":   {approvalOf(`{}`), []string{"d", "<esc>"}, Open},
		"and then leaves":    {approvalOf(`{}`), []string{"d", "<esc>", "<esc>"}, Left},
		"back from nothing":  {approvalOf(`{}`), []string{"\x1b[Z"}, Open},
		"l of a signal":      {&waits.Wait{Kind: echo.WaitSignal, Signal: "go"}, []string{"l"}, Left},
		"escape of a signal": {&waits.Wait{Kind: echo.WaitSignal, Signal: "go"}, []string{"<esc>"}, Left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := New(c.wait)
			press(f, c.keys...)
			require.Equal(t, c.want, f.State())
		})
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	f := New(waitOf(echo.Form{Kind: echo.FormText}))
	press(f, "hm", enter)
	require.Equal(t, Answered, f.State())
	f.Refuse("the disk is full")
	require.Equal(t, Open, f.State())
	require.Contains(t, f.Lines(80, 20, plain), "  ✗ the disk is full")
	text, writing := f.Text()
	require.True(t, writing)
	require.Equal(t, "hm", text, "nothing is lost")
	f.Write("hm, again\x1b[2J")
	press(f, enter)
	require.Equal(t, "hm, again[2J", f.Answer().Value)
}

func decisionOf(output string) *waits.Wait {
	w := waitOf(echo.Form{Kind: echo.FormChoice, Question: "Is this the announcement?", Context: "The second try.", Options: three, Feedback: true})
	w.Kind, w.Output = echo.WaitDecision, output
	return w
}

// TestLines has each form as a terminal shows it.
func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A sentence of this candidate that says something. ", 12)
	longer := []echo.Offered{{Label: "A", Text: "one\n" + long}, {Label: "B", Text: "two\n\ntwo", Note: "gpt-5-mini  $0.01"}, {Label: "C", Text: long}}
	var args strings.Builder
	args.WriteString(`{"files":[`)
	for i := range 40 {
		args.WriteString(strings.Repeat(",", min(i, 1)) + `"file"`)
	}
	args.WriteString(`],"text":"` + strings.Repeat("wide ", 60) + `\u001b[2J","to":"prod"}`)
	for name, c := range map[string]struct {
		wait    *waits.Wait
		earlier []string
		keys    []string
		height  int
	}{
		"approval":       {approvalOf(`{"note":"<b> \u001b[31m","to":"prod"}`), []string{"Earlier decisions like it:", "  2m0s ago  ann (command) in session one: deny: a Friday"}, nil, 20},
		"long-approval":  {approvalOf(args.String()), nil, []string{"\x1b[6~", "a"}, 16},
		"edit":           {approvalOf(`{"note":"<b>","to":"prod"}`), nil, []string{"e"}, 16},
		"edited":         {approvalOf(`{"note":"<b>","to":"prod"}`), nil, []string{"e", down + down + "\x05" + strings.Repeat("\x7f", 5) + "staging\"", "\x04"}, 20},
		"deny":           {approvalOf(`{"to":"prod"}`), nil, []string{"d", "not on a Friday"}, 16},
		"choice":         {waitOf(echo.Form{Kind: echo.FormChoice, Question: "Who is it for?\x1b[2J", Context: "It is late.\n\tSo far.", Options: three, Custom: true, Severity: "high"}), nil, []string{down}, 20},
		"decision":       {decisionOf("windlass 1.4.0 is out.\x1b[2J\n\nIt is \u202efast. " + strings.Repeat("More of it. ", 20)), nil, nil, 20},
		"several":        {waitOf(echo.Form{Kind: echo.FormMultiChoice, Options: three, Data: map[string]any{"n": json.Number("1.50")}}), nil, []string{" "}, 20},
		"rating":         {waitOf(echo.Form{Kind: echo.FormRating, Most: 5}), nil, []string{"4"}, 20},
		"text":           {waitOf(echo.Form{Kind: echo.FormText, HTML: "<b>", Images: []echo.Image{{Name: "plots/a\n\x1b[2J.png", Type: "image/png", Bytes: 3456, Width: 640, Height: 480}}}), nil, []string{"one\ntwo \x1b[D漢" + strings.Repeat("x", 200)}, 20},
		"review":         {waitOf(echo.Form{Kind: echo.FormReview}), nil, []string{"n", "too short"}, 20},
		"form":           {waitOf(echo.Form{Kind: echo.FormFields, Fields: []echo.Field{{Name: "sure", Kind: echo.FormConfirmation}}}), nil, nil, 20},
		"candidates":     {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: longer, Mode: echo.ChooseOne, Tie: true}}), nil, []string{down}, 24},
		"ranking":        {waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRank}}), nil, []string{"c", "a"}, 24},
		"signal":         {&waits.Wait{ID: "7k2mq0a1b2", Place: waits.Place{Session: "ship", Phase: "hold"}, Kind: echo.WaitSignal, Signal: "go", Asked: `signal "go" The build is done.`}, nil, nil, 20},
		"a-few-lines":    {approvalOf(`{"to":"prod"}`), nil, nil, 6},
		"an-own-answer":  {waitOf(echo.Form{Kind: echo.FormChoice, Options: three, Custom: true}), nil, []string{"4", enter, "hm"}, 20},
		"what-is-needed": {waitOf(echo.Form{Kind: echo.FormText}), nil, []string{enter}, 20},
	} {
		for _, width := range []int{80, 200} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := New(c.wait)
				f.Earlier(c.earlier)
				f.Lines(width-1, c.height, plain)
				press(f, c.keys...)
				lines := f.Lines(width-1, c.height, plain)
				require.LessOrEqual(t, len(lines), c.height)
				for _, line := range lines {
					require.LessOrEqual(t, runewidth.StringWidth(line), width-1, line)
					require.NotContains(t, line, "\x1b")
				}
				golden(t, name+map[int]string{80: "-80.golden", 200: "-200.golden"}[width], strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/term/form -update writes what is seen")
}

// FuzzKeys presses anything in every form: none panics, no line is too wide, and what is answered is taken.
func FuzzKeys(f *testing.F) {
	all := []*waits.Wait{
		approvalOf(`{"note":"<b>","to":"prod"}`),
		waitOf(echo.Form{Kind: echo.FormConfirmation}), waitOf(echo.Form{Kind: echo.FormChoice, Options: three, Custom: true}),
		waitOf(echo.Form{Kind: echo.FormMultiChoice, Options: three}), waitOf(echo.Form{Kind: echo.FormRating, Most: 5}),
		waitOf(echo.Form{Kind: echo.FormText}), waitOf(echo.Form{Kind: echo.FormReview}),
		waitOf(echo.Form{Kind: echo.FormFields, Fields: []echo.Field{{Name: "who", Kind: echo.FormText}, {Name: "n", Kind: echo.FormRating, Most: 3}, {Name: "m", Kind: echo.FormMultiChoice, Options: three, Required: true}}}),
		waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRank, Reason: true}}),
		waitOf(echo.Form{Kind: echo.FormCandidates, Choose: &echo.Choose{Candidates: abc, Mode: echo.ChooseRate}}),
		{ID: "x", Kind: echo.WaitSignal, Signal: "go"},
	}
	for i := range all {
		f.Add([]byte("\x1b[Be\x04y\r1 a\x7f\x1b[5~\x1b[200~p\n\x1b[201~\r\t\x1b[Z"), byte(i), byte(60))
	}
	f.Fuzz(func(t *testing.T, sent []byte, which, width byte) {
		w := all[int(which)%len(all)]
		form := New(w)
		var d keys.Decoder
		for _, k := range d.Feed(sent) {
			form.Key(k)
			room := max(int(width), 20)
			for _, line := range form.Lines(room, 12, plain) {
				if runewidth.StringWidth(line) > room {
					t.Fatalf("%q is wider than %d", line, room)
				}
			}
		}
		if form.State() == Answered {
			_, err := waits.Check(w, form.Answer().Value)
			require.NoError(t, err)
		}
	})
}
