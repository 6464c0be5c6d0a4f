//go:build unix

package waits

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
)

// Places where a kill can come.
const (
	beforeRegistered = "before a wait was registered"
	registered       = "when a wait was registered and nobody had answered"
	undelivered      = "when an answer was left and not delivered"
	delivered        = "when an answer was delivered and its run had not ended"
	answerNotLeft    = "in windlass answer, before the letter"
	answerLeft       = "in windlass answer, after the letter"
	signalNotSent    = "in windlass signal, before the letter"
	signalSent       = "in windlass signal, after the letter"
	fireNotSent      = "in a run that fires, before the letter"
	fireSent         = "in a run that fires, after the letter and before its end"
	wordNotLeft      = "in windlass audible, before the letter"
	wordLeft         = "in windlass audible, after the letter"
	wordTaken        = "when words were taken and not all that follows from them was recorded"
)

var allPlaces = []string{
	beforeRegistered, registered, undelivered, delivered, answerNotLeft, answerLeft, signalNotSent, signalSent, fireNotSent, fireSent,
	wordNotLeft, wordLeft, wordTaken,
}

// steps is how far all waits and signals of a home are.
type steps struct {
	waits, answers map[string]bool // ids of waits
	letters        []string        // files of answers and signals
	ended          int             // runs
}

func (r *round) steps() steps {
	r.t.Helper()
	s := steps{waits: map[string]bool{}, answers: map[string]bool{}}
	journals, err := filepath.Glob(filepath.Join(r.Home, "sessions", "*", journal.File))
	require.NoError(r.t, err)
	for _, path := range journals {
		rec, err := journal.Read(path)
		if err != nil {
			continue // it has not begun
		}
		for _, e := range rec.Entries {
			switch e.NodeType { //nolint:exhaustive // the others are no waits
			case echo.NodeWait:
				s.waits[echo.WaitID(rec.Header.SessionID, e.Key)] = true
			case echo.NodeAnswer:
				s.answers[echo.WaitID(rec.Header.SessionID, e.Key)] = true
			}
		}
		if record.EndOf(rec.Entries).Status == echo.StatusCompleted {
			s.ended++
		}
	}
	for _, pattern := range []string{"sessions/*/mailbox/*.json", "mailbox/*.json"} {
		files, err := filepath.Glob(filepath.Join(r.Home, pattern))
		require.NoError(r.t, err)
		s.letters = append(s.letters, files...)
	}
	return s
}

// left counts the letters of a kind.
func (s *steps) left(kind string) (n int) {
	for _, path := range s.letters {
		if strings.HasPrefix(filepath.Base(path), kind+"-") {
			n++
		}
	}
	return n
}

// placesOf returns around which steps a command was killed.
func placesOf(command string, before, after steps) (places []string) {
	add := func(is bool, place string) {
		if is {
			places = append(places, place)
		}
	}
	sent := after.left("signal") > before.left("signal")
	switch command {
	case "answer":
		more := after.left("answer") > before.left("answer")
		add(more, answerLeft)
		add(!more, answerNotLeft)
	case "signal":
		add(sent, signalSent)
		add(!sent, signalNotSent)
	case "audible":
		more := after.left("audible") > before.left("audible")
		add(more, wordLeft)
		add(!more, wordNotLeft)
	case "fire":
		add(sent, fireSent)
		add(!sent, fireNotSent)
	default:
		add(len(after.waits) < expected, beforeRegistered)
		add(len(after.waits) > len(before.waits), registered)
		open := func(path string) bool {
			id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "answer-"), ".json")
			return after.waits[id] && !after.answers[id]
		}
		add(slices.ContainsFunc(after.letters, open), undelivered)
		add(len(after.answers) > len(before.answers), delivered)
		add(after.left("heard") > before.left("heard"), wordTaken)
	}
	return places
}

func hasEnded(tree *billed.Tree) bool {
	return record.EndOf(tree.Root.Entries).Status == echo.StatusCompleted
}

func (r *round) ended() bool { return hasEnded(r.Tree(session)) }

// holds demands that what is recorded holds, and that nothing that is recorded is paid for again.
func (r *round) holds() {
	r.t.Helper()
	require.NoError(r.t, r.Tree(session).Agree(), r.told())
	r.SettleBill(r.Forest(session))
	v := r.Start(nil, "verify", session)
	require.Zero(r.t, v.Code, "%s\n%s%s", r.told(), v.Out, v.Err)
	r.stamps()
}

// stamps demands that the tool has run with what was allowed, and with each once at most, and returns with what.
func (r *round) stamps() []string {
	r.t.Helper()
	data, err := os.ReadFile(r.Path("stamps"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(r.t, err)
	lines := strings.Fields(string(data))
	for _, name := range lines {
		require.Contains(r.t, r.allowed, name, "it was not allowed\n%s", r.told())
	}
	require.Len(r.t, slices.Compact(slices.Sorted(slices.Values(lines))), len(lines), "it has run twice\n%s", r.told())
	return lines
}

// check looks at a run that has ended.
func (r *round) check() {
	r.t.Helper()
	r.holds()
	require.Empty(r.t, r.Provider.Wrong(), r.told())
	require.Empty(r.t, r.waiting(), r.told())
	ran := r.stamps()
	waits, answers := map[string]*echo.Entry{}, map[string]int{}
	var taken []string
	for _, s := range r.Tree(session).All {
		for _, e := range s.Entries {
			id := echo.WaitID(s.Header.SessionID, e.Key)
			switch e.NodeType { //nolint:exhaustive // the others are no waits
			case echo.NodeWait:
				require.NotContains(r.t, waits, id, "it is asked twice\n%s", r.told())
				waits[id] = e
			case echo.NodeAnswer:
				answers[id]++
				taken = append(taken, r.checkAnswer(id, waits[id], e)...)
			case echo.NodeToolCall:
				if e.Tool != nil && e.Tool.Name == "stamp" && e.Error == nil {
					var args struct{ N string }
					require.NoError(r.t, json.Unmarshal([]byte(e.Tool.Arguments), &args))
					require.Contains(r.t, ran, args.N, r.told())
				}
			}
		}
	}
	require.Len(r.t, waits, expected, r.told())
	for id := range waits {
		require.Equal(r.t, 1, answers[id], "each is answered once\n%s", r.told())
	}
	r.checkSignals(taken)
	r.checkWords()
}

// checkWords demands that what was said is kept, that each place that took some has recorded it, and that nothing is told twice.
func (r *round) checkWords() {
	r.t.Helper()
	var list []struct {
		Letter, Text, Taken string
	}
	e := r.MustRun(0, "audible", session, "--json")
	require.NoError(r.t, json.Unmarshal([]byte(e.Out), &list), e.Out)
	left, places := map[string]bool{}, map[string]string{}
	for _, x := range list {
		require.False(r.t, left[x.Text], "it is left twice\n%s", r.told())
		left[x.Text] = true
		if x.Taken != "" {
			places[x.Taken] = x.Text
		}
	}
	for text, said := range r.words {
		require.True(r.t, left[text] || !said, "%s is lost\n%s", text, r.told())
	}
	recorded := map[string]string{}
	for _, e := range r.Tree(session).Root.Entries {
		if a, err := echo.Read[echo.Audible](e); err == nil {
			require.Empty(r.t, a.Problem, r.told())
			require.NotContains(r.t, recorded, e.Key.String(), r.told())
			recorded[e.Key.String()] = a.Text
		}
	}
	require.Equal(r.t, places, recorded, r.told())
}

// checkAnswer demands that an answer is the one that was given, and returns what a signal says.
func (r *round) checkAnswer(id string, asked, e *echo.Entry) (signal []string) {
	r.t.Helper()
	require.NotNil(r.t, asked, "it is answered before it is asked\n%s", r.told())
	w, err := echo.Read[echo.Wait](asked)
	require.NoError(r.t, err)
	a, err := echo.Read[echo.Answer](e)
	require.NoError(r.t, err)
	said := r.given[id]
	switch {
	case a.TimedOut:
		require.Empty(r.t, said, "an answer is lost\n%s", r.told())
		require.True(r.t, w.Deadline(asked.At).Equal(a.At), "it ends at its deadline\n%s", r.told())
	case w.Kind == echo.WaitSignal:
		payload, _ := a.Value.(map[string]any)
		n, _ := payload["n"].(string)
		require.Contains(r.t, r.sent, n, r.told())
		return []string{n + " " + a.Letter}
	case w.Kind == echo.WaitApproval:
		require.Equal(r.t, said, a.Value.(map[string]any)["decision"], r.told())
		require.Equal(r.t, w.Shown, a.Shown, r.told())
	case w.Form.Kind == echo.FormConfirmation:
		require.True(r.t, a.Value == true && said == "yes", r.told())
	default:
		require.Equal(r.t, said, a.Value, r.told())
	}
	return nil
}

// checkSignals demands that no signal was taken twice, that each run which fires has fired one letter, and that those who took one
// are those of whom the mailbox says so.
func (r *round) checkSignals(taken []string) {
	r.t.Helper()
	require.Len(r.t, taken, 2, r.told())
	require.NotEqual(r.t, taken[0], taken[1], "a signal is taken twice\n%s", r.told())
	s := r.steps()
	require.Equal(r.t, len(taken), s.left("taken"), "%v\n%s", s.letters, r.told())
	fired := 0
	for _, id := range r.Others {
		for _, e := range r.Tree(id).Root.Entries {
			if f, err := echo.Read[echo.Fired](e); err == nil {
				require.Empty(r.t, f.Problem, r.told())
				require.Equal(r.t, 1, s.with("signal-"+f.Letter+".json"), r.told())
				fired++
			}
		}
		r.MustRun(0, "verify", id)
	}
	require.Equal(r.t, len(r.Others), fired, "each fires once\n%s", r.told())
}

// with counts the letters with a name.
func (s *steps) with(name string) (n int) {
	for _, path := range s.letters {
		if filepath.Base(path) == name {
			n++
		}
	}
	return n
}
