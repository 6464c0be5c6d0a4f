package waits_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// One damaged letter or session hides no other wait, and is named.
func TestSurveyOfDamage(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText}), question(echo.Form{Kind: echo.FormConfirmation}))
	write(t, d.Home, journal.Header{SessionID: "other"}, []echo.Wait{approval()}, 0)
	box := waits.Box(d.Home, session).Dir
	require.NoError(t, os.MkdirAll(box, 0o700))
	letter := filepath.Join(box, "answer-"+idOf(0)+".json")
	require.NoError(t, os.WriteFile(letter, []byte("{"), 0o600))
	require.NoError(t, os.MkdirAll(waits.HomeBox(d.Home).Dir, 0o700))
	signal := filepath.Join(waits.HomeBox(d.Home).Dir, "signal-x.json")
	require.NoError(t, os.WriteFile(signal, []byte(`{"signal":"go"}`), 0o600))
	broken := filepath.Join(config.SessionDir(d.Home, "broken"), journal.File)
	require.NoError(t, os.MkdirAll(filepath.Dir(broken), 0o700))
	require.NoError(t, os.WriteFile(broken, []byte("{\n"), 0o600))

	s, err := d.Survey(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, s.Open, 3)
	require.Len(t, s.Damaged, 3)
	require.ErrorContains(t, s.Damaged[0], "session broken: ")
	require.EqualError(t, s.Damaged[1], "read "+letter+": it is no whole letter: unexpected EOF")
	require.EqualError(t, s.Damaged[2], "read "+signal+": it has no time")
	require.NoError(t, d.Answer(find(t, d, 1), waits.Given{Value: true}), "the others are answered")
	err = d.Answer(find(t, d, 0), waits.Given{Value: "x"})
	require.EqualError(t, err, "read "+letter+": it is no whole letter: unexpected EOF")
	_, err = d.Find(t.Context(), "0000000000")
	require.True(t, failure.Is(err, failure.UnknownWait), "%v", err)

	s, err = d.Survey(t.Context(), "other")
	require.NoError(t, err)
	require.Len(t, s.Open, 1)
	require.Empty(t, s.Damaged, "the others are not asked for")
}

func TestShownOfWhatIsNoApproval(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText}))
	err := d.Answer(find(t, d, 0), waits.Given{Value: "x", Shown: "0000000000000000"})
	require.EqualError(t, err, "the wait "+idOf(0)+" is for an answer: only the approval of a call has a hash of what is shown")
	require.True(t, failure.Is(err, failure.InvalidAnswer))
}

// answered makes a session whose waits were answered so.
func answered(t *testing.T, home, id string, phase string, at time.Time, list []echo.Wait, answers ...echo.Answer) {
	t.Helper()
	h := journal.Header{SessionID: id, Rules: 1, StartedAt: at, Cascade: json.RawMessage(`{"cascade_id":"c"}`), Input: json.RawMessage(`{}`)}
	j, err := journal.Create(config.SessionDir(home, id), h)
	require.NoError(t, err)
	seq := uint64(0)
	add := func(i int, p echo.Payload) {
		seq++
		e := echo.NewEntry(echo.MustKey(fmt.Sprintf("%s/attempt1/turn%d/tool1/wait", phase, i+1)), p)
		e.SessionID, e.Seq, e.At, e.CascadeID = id, seq, at, "c"
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	for i, w := range list {
		add(i, w)
		add(i, answers[i])
	}
	j.Flush()
	require.NoError(t, j.Close(t.Context()))
}

func TestEarlier(t *testing.T) {
	t.Parallel()
	d := deskOf(t, approval(), question(echo.Form{Kind: echo.FormText}))
	other := approval()
	other.Call.Tool = "remove"
	denied := echo.Answer{Value: map[string]any{"decision": "deny", "reason": "a Friday"}, By: "ann", Via: echo.ViaCommand, At: began.Add(-time.Hour)}
	allowed := echo.Answer{Value: map[string]any{"decision": "allow"}, By: "ben", Via: echo.ViaHTTP, At: began.Add(-2 * time.Hour)}
	edited := echo.Answer{Value: map[string]any{"decision": "edit", "arguments": map[string]any{"to": "staging"}}, By: "eve", Via: echo.ViaTerminal, At: began.Add(-3 * time.Hour)}
	granted := echo.Answer{Value: map[string]any{"decision": "allow"}, By: "ben", Via: echo.ViaGrant, At: began}
	late := echo.Answer{TimedOut: true, Via: echo.ViaClock, At: began}
	said := echo.Answer{Value: "like last time", By: "ann", Via: echo.ViaCommand, At: began}
	ask := question(echo.Form{Kind: echo.FormText, Question: "How?"})
	answered(t, d.Home, "one", "a", began.Add(-4*time.Hour), []echo.Wait{approval(), other, approval(), approval()}, edited, denied, late, allowed)
	answered(t, d.Home, "two", "a", began.Add(-time.Hour), []echo.Wait{approval(), approval(), ask}, denied, granted, said)
	answered(t, d.Home, "three", "b", began, []echo.Wait{ask}, said)

	seen := func(i, most int) (out []string) {
		t.Helper()
		list, err := d.Earlier(t.Context(), find(t, d, i), most)
		require.NoError(t, err)
		for _, x := range list {
			out = append(out, x.Session+" "+x.Asked+" "+x.Answer.By+" "+x.Text())
		}
		return out
	}
	const call = ` deploy {"to":"prod"} `
	require.Equal(t, []string{"two" + call + "ann deny: a Friday", "one" + call + "ben allow", "one" + call + `eve edit: {"to":"staging"}`}, seen(0, 5))
	require.Equal(t, []string{"two" + call + "ann deny: a Friday"}, seen(0, 1), "the newest")
	require.Equal(t, []string{"two How? ann like last time"}, seen(1, 5), "of the same phase")
}

func TestEdited(t *testing.T) {
	t.Parallel()
	d := deskOf(t, approval(), question(echo.Form{Kind: echo.FormText}))
	edit := map[string]any{"decision": "edit", "arguments": map[string]any{"to": "staging"}}
	require.JSONEq(t, `{"to":"staging"}`, string(waits.Edited(find(t, d, 0), edit)))
	require.Nil(t, waits.Edited(find(t, d, 0), "allow"))
	require.Nil(t, waits.Edited(find(t, d, 0), map[string]any{"decision": "edit", "arguments": map[string]any{"to": "mars"}}), "it does not fit")
	require.Nil(t, waits.Edited(find(t, d, 1), edit))
}

func TestReadySessions(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText}), question(echo.Form{Kind: echo.FormConfirmation}))
	ready := func() []string {
		t.Helper()
		list, s, err := d.ReadySessions(t.Context())
		require.NoError(t, err)
		require.Empty(t, s.Damaged)
		return list
	}
	late := question(echo.Form{Kind: echo.FormText})
	late.Timeout = 60
	write(t, d.Home, journal.Header{SessionID: "late"}, []echo.Wait{late}, 0)
	write(t, d.Home, journal.Header{SessionID: "below", Parent: "top", Root: "top"}, []echo.Wait{{Kind: echo.WaitSignal, Signal: "go"}}, 0)
	require.Equal(t, []string{"late"}, ready())
	require.NoError(t, d.Answer(find(t, d, 1), waits.Given{Value: true}))
	require.ElementsMatch(t, []string{"late", session}, ready())
	require.NoError(t, d.Signal("", "go", echo.Answer{Letter: "l", At: began}))
	require.ElementsMatch(t, []string{"late", session, "top"}, ready(), "the one above all others")
	d.Now = func() time.Time { return began }
	require.ElementsMatch(t, []string{session, "top"}, ready())
}
