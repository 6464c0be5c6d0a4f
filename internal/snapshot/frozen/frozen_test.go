package frozen

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/snapshot"
)

func TestNotEnded(t *testing.T) {
	t.Parallel()
	rec := &journal.Recording{Header: journal.Header{SessionID: "one"}}
	err := CheckEnded(rec)
	require.EqualError(t, err, "session one has not ended: it runs, or its process died. There is nothing to freeze yet")
	require.True(t, failure.Is(err, failure.InvalidRequest))
	_, err = Make(t.Context(), rec, Options{})
	require.ErrorAs(t, err, new(*NotEndedError))
	require.EqualError(t, &NotEndedError{SessionID: "one", Status: echo.StatusOverBudget}, "session one is over_budget: what it would have come to is not known")
}

// What is taken out may be what decided how a run went on: then this is said, in place of what is of no help.
func TestRedactedSessionsSayThatTheyAre(t *testing.T) {
	t.Parallel()
	redacted := []journal.Redaction{{Hash: "h"}}
	reply := func(key string, by *echo.Redacted) *echo.Entry {
		e := echo.NewEntry(echo.MustKey(key), echo.ModelCall{Model: "m"})
		e.Message = echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("a"), Redacted: by})
		return e
	}
	by := &echo.Redacted{Hash: "h", Of: []echo.Hash{"h"}}
	const (
		whole     = "session one cannot be frozen: run again with its answers it does not come to what is recorded:\nphases:\n+x"
		decided   = "session one cannot be frozen: it is redacted, and without what was taken out it does not come to what is recorded:\nphases:\n+x"
		ofJudges  = "session one cannot be frozen: it is redacted, and its judging cannot be played again without the replies of judges that were taken out:\nphases:\n+x"
		candidate = "draft/sounding1/attempt1/turn1/model"
	)
	for name, tt := range map[string]struct {
		redactions []journal.Redaction
		entries    []*echo.Entry
		want       string
	}{
		"nothing is redacted":      {nil, []*echo.Entry{reply("draft/ballot1/model", nil)}, whole},
		"an answer is redacted":    {redacted, []*echo.Entry{reply(candidate, by), reply("draft/ballot1/model", nil)}, decided},
		"a ballot is redacted":     {redacted, []*echo.Entry{reply(candidate, nil), reply("draft/ballot1/model", by)}, ofJudges},
		"points are redacted":      {redacted, []*echo.Entry{reply("draft/reforge1/score2/model", by)}, ofJudges},
		"an aggregate is redacted": {redacted, []*echo.Entry{reply("draft/aggregate/model", by)}, decided},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &journal.Recording{Header: journal.Header{SessionID: "one", Redactions: tt.redactions}, Entries: tt.entries}
			found := &snapshot.UnfaithfulError{Differences: []snapshot.Difference{{Aspect: snapshot.Phases, Diff: "+x\n"}}}
			err := unfaithfulError(rec, found)
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, found)
			require.Equal(t, failure.Failed, failure.KindOf(err))
		})
	}
}

func TestCascadeOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte("{}"), 0o600))
	test := filepath.Join(dir, "tests", "a.test.json")
	file, err := cascadeOf(journal.Header{File: "a.json"}, app.Started{Dir: dir}, test, "")
	require.NoError(t, err)
	require.Equal(t, "../a.json", file)

	_, err = cascadeOf(journal.Header{SessionID: "one", File: app.Stdin}, app.Started{Dir: dir}, test, "")
	require.EqualError(t, err, "session one has its cascade from standard input, and a test needs a file")
	var bad *CascadeError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, NoCascadeFile, bad.Problem)
	_, err = cascadeOf(journal.Header{File: "gone.json"}, app.Started{Dir: dir}, test, "")
	require.ErrorContains(t, err, "the cascade of the test cannot be read: ")
	require.ErrorAs(t, err, &bad)
	require.Equal(t, UnreadableCascade, bad.Problem)
}

func TestMaskEnv(t *testing.T) {
	t.Setenv("LONG_OF_TEST", "a value that is long enough")
	t.Setenv("SHORT_OF_TEST", "x")
	t.Setenv("KEPT_OF_TEST", "production")
	var warnings []string
	o := Options{KeepEnv: []string{"KEPT_OF_TEST"}, Warn: func(text string) { warnings = append(warnings, text) }}
	env, masks, err := maskEnv([]string{"LONG_OF_TEST", "SHORT_OF_TEST", "KEPT_OF_TEST", "UNSET_OF_TEST"}, o)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"LONG_OF_TEST": "<LONG_OF_TEST>", "SHORT_OF_TEST": "<SHORT_OF_TEST>", "KEPT_OF_TEST": "production", "UNSET_OF_TEST": "<UNSET_OF_TEST>",
	}, env)
	require.Contains(t, masks, snapshot.Mask{From: "a value that is long enough", To: "<LONG_OF_TEST>"})
	require.Contains(t, masks, snapshot.Mask{From: secret.Placeholder("KEPT_OF_TEST"), To: "production"})
	require.Equal(t, []string{
		"the value of SHORT_OF_TEST is too short to be found and replaced in the test.",
		"UNSET_OF_TEST is not set now, so its value cannot be found and replaced in the test.",
	}, warnings)

	_, _, err = maskEnv(nil, o)
	require.EqualError(t, err, "KEPT_OF_TEST: the run was not granted a variable of this name")
	_, _, err = maskEnv([]string{"UNSET_OF_TEST"}, Options{KeepEnv: []string{"UNSET_OF_TEST"}})
	require.EqualError(t, err, "UNSET_OF_TEST: it is not set")
	require.ErrorAs(t, err, new(*VariableError))
}

func TestErrorsHaveTheTextOfTheirCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("no room")
	require.EqualError(t, &WriteError{cause}, "no room")
	require.ErrorIs(t, &WriteError{cause}, cause)
	require.EqualError(t, &OriginError{cause}, "no room")
	require.ErrorIs(t, &OriginError{cause}, cause)
	require.EqualError(t, existsError("tests/a.test.json"), "there is a test tests/a.test.json already")
}
