package mailbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
)

// childBox has the test binary leave one answer in the mailbox that it names, as another process.
const childBox = "WINDLASS_TEST_MAILBOX"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childBox); dir != "" {
		err := mailbox.Box{Dir: dir}.Answer(waitID, answerOf(os.Getenv("WINDLASS_TEST_BY")))
		var taken *mailbox.TakenError
		switch {
		case err == nil:
			fmt.Print("left")
		case errors.As(err, &taken):
			fmt.Print("taken by ", taken.By)
		default:
			fmt.Print(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const waitID = "7k2mq0a1b2"

var sent = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func answerOf(by string) echo.Answer {
	return echo.Answer{Value: "from " + by, By: by, Via: echo.ViaCommand, At: sent}
}

func signalOf(letter string, at time.Time) echo.Answer {
	return echo.Answer{Letter: letter, Value: letter, By: "ann", Via: echo.ViaCommand, At: at}
}

func newBox(t *testing.T) mailbox.Box {
	t.Helper()
	return mailbox.Box{Dir: filepath.Join(t.TempDir(), "mailbox")}
}

func TestFirstAnswerWins(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	none, err := box.Answered(waitID)
	require.NoError(t, err)
	require.Nil(t, none)

	const writers = 50
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { errs[i] = box.Answer(waitID, answerOf(fmt.Sprint("writer", i))) })
	}
	wg.Wait()
	got, err := box.Answered(waitID)
	require.NoError(t, err)
	left := 0
	for i, err := range errs {
		if err == nil {
			left++
			require.Equal(t, fmt.Sprint("writer", i), got.By)
			continue
		}
		var taken *mailbox.TakenError
		require.ErrorAs(t, err, &taken)
		require.Equal(t, *got, taken.Answer)
	}
	require.Equal(t, 1, left)
	files, err := os.ReadDir(box.Dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing of those who were late is left")
}

func TestFirstAnswerWinsAmongProcesses(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	const writers = 5
	said := make([]string, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childBox+"="+box.Dir, fmt.Sprint("WINDLASS_TEST_BY=p", i))
			out, err := cmd.CombinedOutput()
			said[i] = string(out)
			if err != nil {
				said[i] += err.Error()
			}
		})
	}
	wg.Wait()
	got, err := box.Answered(waitID)
	require.NoError(t, err)
	for i, text := range said {
		want := "taken by " + got.By
		if got.By == fmt.Sprint("p", i) {
			want = "left"
		}
		require.Equal(t, want, text)
	}
}

func TestTakenSaysWhoWasFaster(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	require.NoError(t, box.Answer(waitID, echo.Answer{Value: true, Via: echo.ViaHTTP, At: sent}))
	err := box.Answer(waitID, answerOf("ben"))
	require.EqualError(t, err, "the wait "+waitID+" was answered by somebody (http) at "+sent.Local().Format("2006-01-02 15:04:05"))
}

func TestAnswerKeepsItsValue(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	value := map[string]any{"n": json.Number("12345678901234567890.10"), "s": "<a> \u2028 ö", "list": []any{nil, true}}
	require.NoError(t, box.Answer(waitID, echo.Answer{Value: value, At: sent, Shown: "0123456789abcdef"}))
	got, err := box.Answered(waitID)
	require.NoError(t, err)
	require.Equal(t, &echo.Answer{Value: value, At: sent, Shown: "0123456789abcdef"}, got)
}

func TestLettersThatAreRefused(t *testing.T) {
	t.Parallel()
	whole := `{"wait":"` + waitID + `","value":1,"at":"2026-03-04T05:06:07Z"}`
	for name, test := range map[string]struct{ text, err string }{
		"empty":     {"", "it is no whole letter: EOF"},
		"torn":      {whole[:20], "it is no whole letter: unexpected EOF"},
		"no object": {`[1]`, "it is no whole letter: json: cannot unmarshal array into Go value of type mailbox.Letter"},
		"two":       {whole + whole, "it has more than one letter"},
		"no time":   {`{"wait":"` + waitID + `","value":1}`, "it has no time"},
		"foreign":   {strings.Replace(whole, waitID, "0000000000", 1), "it has the letter of another file"},
		"too long":  {strings.Repeat(" ", mailbox.MaxLetter) + whole, "it is no letter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := mailbox.Box{Dir: t.TempDir()}
			path := filepath.Join(box.Dir, "answer-"+waitID+".json")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := box.Answered(waitID)
			require.EqualError(t, err, "read "+path+": "+test.err)
			require.EqualError(t, box.Answer(waitID, answerOf("ben")), "read "+path+": "+test.err, "it is not written over")
		})
	}
}

func TestOtherThingsThanFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := mailbox.Box{Dir: t.TempDir()}
			require.NoError(t, os.WriteFile(filepath.Join(box.Dir, "elsewhere"), []byte(`{"wait":"`+waitID+`","at":"2026-03-04T05:06:07Z"}`), 0o600))
			path := filepath.Join(box.Dir, "answer-"+waitID+".json")
			require.NoError(t, leave(path))
			_, err := box.Answered(waitID)
			require.EqualError(t, err, "read "+path+": it is no letter")
			require.EqualError(t, box.Answer(waitID, answerOf("ben")), "read "+path+": it is no letter")

			signal := filepath.Join(box.Dir, "signal-a.json")
			require.NoError(t, leave(signal))
			got, err := box.Take("go", "me", time.Time{})
			require.NoError(t, err, "the others are not affected")
			require.Nil(t, got)
			require.Equal(t, []string{"read " + path + ": it is no letter", "read " + signal + ": it is no letter"}, texts(box.Damaged()))
		})
	}
}

func TestLettersThatAreTooLong(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	a := answerOf("ann")
	a.Value = ""
	text, err := json.Marshal(mailbox.Letter{Wait: waitID, Answer: a})
	require.NoError(t, err)
	fits := mailbox.MaxLetter - len(text) - 1
	a.Value = strings.Repeat("x", fits+1)
	require.EqualError(t, box.Answer(waitID, a), fmt.Sprintf("a letter has %d bytes, at most %d are taken", mailbox.MaxLetter+1, mailbox.MaxLetter))
	require.NoDirExists(t, box.Dir)
	a.Value = strings.Repeat("x", fits)
	require.NoError(t, box.Answer(waitID, a))
	got, err := box.Answered(waitID)
	require.NoError(t, err, "what was taken can be read")
	require.Equal(t, &a, got)
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	for _, name := range []string{"../../x", "a/b", `a\b`, "c:d", strings.Repeat("y", 200)} {
		require.EqualError(t, box.Answer(name, answerOf("ann")), fmt.Sprintf("%q is no name of a letter", "answer-"+name+".json"))
		_, err := box.Answered(name)
		require.EqualError(t, err, fmt.Sprintf("%q is no name of a letter", "answer-"+name+".json"))
		require.EqualError(t, box.Send("go", signalOf(name, sent)), fmt.Sprintf("%q is no name of a letter", "signal-"+name+".json"))
	}
	require.NoDirExists(t, box.Dir)
	require.Error(t, box.Answer("a\x00b", answerOf("ann")))
}

// TestForeignLetterOfSignal has a file whose letter has an id that leads elsewhere.
func TestForeignLetterOfSignal(t *testing.T) {
	t.Parallel()
	box := mailbox.Box{Dir: t.TempDir()}
	path := filepath.Join(box.Dir, "signal-a.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"signal":"go","letter":"../../b","at":"2026-03-04T05:06:07Z"}`), 0o600))
	got, err := box.Take("go", "me", time.Time{})
	require.NoError(t, err)
	require.Nil(t, got)
	require.Equal(t, []string{"read " + path + ": it has the letter of another file"}, texts(box.Damaged()))
}

func texts(errs []error) (out []string) {
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func TestOldestSignalFirst(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	require.NoError(t, box.Send("go", signalOf("c", sent.Add(time.Second))))
	require.NoError(t, box.Send("go", signalOf("b", sent)))
	require.NoError(t, box.Send("go", signalOf("a", sent)))
	require.NoError(t, box.Send("other", signalOf("0", sent.Add(-time.Hour))))
	require.NoError(t, box.Send("go", signalOf("c", sent.Add(-time.Hour))), "one that is there is left as it is")
	for i, want := range []string{"a", "b", "c"} {
		claimant := fmt.Sprint("wait", i)
		has, err := box.Has("go", claimant, time.Time{})
		require.NoError(t, err)
		require.True(t, has)
		for range 2 { // the same claimant gets the same
			got, err := box.Take("go", claimant, time.Time{})
			require.NoError(t, err)
			require.Equal(t, want, got.Letter)
		}
		got, err := box.Taken("go", claimant)
		require.NoError(t, err)
		require.Equal(t, want, got.Letter)
	}
	got, err := box.Take("go", "late", time.Time{})
	require.NoError(t, err)
	require.Nil(t, got)
	has, err := box.Has("go", "late", time.Time{})
	require.NoError(t, err)
	require.False(t, has)
	has, err = box.Has("go", "wait0", time.Time{})
	require.NoError(t, err)
	require.True(t, has, "it is its own still")
}

func TestSignalsAfterTheDeadline(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	require.NoError(t, box.Send("go", signalOf("a", sent)))
	got, err := box.Take("go", "me", sent)
	require.NoError(t, err)
	require.Nil(t, got)
	has, err := box.Has("go", "me", sent)
	require.NoError(t, err)
	require.False(t, has)
	got, err = box.Take("go", "me", sent.Add(time.Nanosecond))
	require.NoError(t, err)
	require.Equal(t, "a", got.Letter)
}

// TestEachSignalIsTakenOnce has more claimants than signals.
func TestEachSignalIsTakenOnce(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	const signals, claimants = 10, 50
	for i := range signals {
		require.NoError(t, box.Send("go", signalOf(fmt.Sprintf("l%02d", i), sent)))
	}
	got := make([]*echo.Answer, claimants)
	errs := make([]error, claimants)
	var wg sync.WaitGroup
	for i := range claimants {
		wg.Go(func() { got[i], errs[i] = box.Take("go", fmt.Sprint("c", i), time.Time{}) })
	}
	wg.Wait()
	seen := map[string]bool{}
	for i := range claimants {
		require.NoError(t, errs[i])
		if got[i] != nil {
			require.False(t, seen[got[i].Letter])
			seen[got[i].Letter] = true
		}
	}
	require.Len(t, seen, signals)
}

func TestTornClaim(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	require.NoError(t, box.Send("go", signalOf("a", sent)))
	for _, text := range []string{"", "{", `{"by":""}`} {
		path := filepath.Join(box.Dir, "taken-a.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := box.Take("go", "me", time.Time{})
		require.NoError(t, err)
		require.Nil(t, got, "somebody may have taken it")
		require.Equal(t, []string{"read " + path + ": it does not say who has taken the letter"}, texts(box.Damaged()))
	}
	require.NoError(t, box.Send("go", signalOf("b", sent)))
	got, err := box.Take("go", "me", time.Time{})
	require.NoError(t, err)
	require.Equal(t, "b", got.Letter, "the others are taken")
}

// TestWhatIsNoLetterIsLeftAlone has files of others in the folder, such as what a process that died was writing.
func TestWhatIsNoLetterIsLeftAlone(t *testing.T) {
	t.Parallel()
	box := mailbox.Box{Dir: t.TempDir()}
	for _, name := range []string{".letter-123", "signal-a.json.tmp", "README"} {
		require.NoError(t, os.WriteFile(filepath.Join(box.Dir, name), []byte("{"), 0o600))
	}
	got, err := box.Take("go", "me", time.Time{})
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestMailboxThatIsNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mailbox")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	box := mailbox.Box{Dir: file}
	require.ErrorContains(t, box.Answer(waitID, answerOf("ann")), "make the mailbox: ")
	_, err := box.Take("go", "me", time.Time{})
	require.ErrorContains(t, err, "read the mailbox: ")
	_, err = box.Answered(waitID)
	require.ErrorContains(t, err, "read the mailbox: ")
}
