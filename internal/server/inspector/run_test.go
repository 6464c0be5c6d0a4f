package inspector_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

const frozen = "../../../cmd/windlass/testdata/frozen"

// TestFrozenRuns: the screens of every frozen session can be shown, by every measure, with each part.
func TestFrozenRuns(t *testing.T) {
	t.Parallel()
	parts := regexp.MustCompile(`href="(/sessions/[^"]*\?part=[^"]*)"`)
	for _, path := range inspectortest.Frozen(t, frozen) {
		home := t.TempDir()
		base := "/sessions/" + inspectortest.Copy(t, home, path)
		b := inspectortest.New(t, home, nil)
		text := b.Open(base)
		for _, by := range []string{"time", "money", "tokens", "uncached"} {
			b.Open(base + "?by=" + by)
		}
		for _, m := range parts.FindAllStringSubmatch(text, 3) {
			require.Contains(t, b.Open(strings.ReplaceAll(m[1], "&amp;", "&")), "The whole run")
		}
		w := b.Ask(http.MethodGet, base+"/bill", nil)
		require.Contains(t, []int{http.StatusOK, http.StatusUnprocessableEntity}, w.Code, path)
		if w.Code != http.StatusOK {
			require.Contains(t, w.Body.String(), "No model was asked in this session", path)
		}
	}
}

// TestAddresses: what an address asks for in vain is told in words.
func TestAddresses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	base := "/sessions/" + inspectortest.Copy(t, home, frozen+"/rules7/rules7_values.jsonl")
	b := inspectortest.New(t, home, nil)
	for _, x := range []struct {
		address string
		status  int
		text    string
	}{
		{"/sessions/none", http.StatusNotFound, "none"},
		{"/sessions/..%2f..%2fetc", http.StatusNotFound, "etc"},
		{base + "?part=nowhere", http.StatusNotFound, "has no part"},
		{base + "/bill?policy=%40%2Fetc%2Fpasswd", http.StatusUnprocessableEntity, "expected full, default, every_turn, step:N, hindsight, or an object"},
		{base + "/bill?policy=%7B%22windov%22%3A+2%7D", http.StatusUnprocessableEntity, "windov"},
		{base + "/bill?prices=a:b", http.StatusUnprocessableEntity, "a:b"},
		{base + "/bill/series?prices=a:b", http.StatusUnprocessableEntity, "a:b"},
		{base + "/none", http.StatusNotFound, "There is nothing at this address."},
	} {
		w := b.Ask(http.MethodGet, x.address, nil)
		require.Equal(t, x.status, w.Code, "%s: %s", x.address, w.Body)
		require.Contains(t, w.Body.String(), x.text, x.address)
	}
	b.Forget()
	w := b.Ask(http.MethodGet, base, nil)
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.NotContains(t, w.Body.String(), "Timeline")
}

// TestHostileRun: whatever a model, a tool or a person has said, the screens of a run show it as text.
func TestHostileRun(t *testing.T) {
	t.Parallel()
	for i, text := range inspectortest.Hostile() {
		home := t.TempDir()
		visit := echo.PhaseKey("draft", 1)
		turn := visit.Attempt(1).Turn(1)
		failed := &echo.Failure{Kind: text, Message: text}
		call := &echo.Entry{NodeType: echo.NodeModelCall, Key: turn.Step(echo.StepModel), Model: text, Usage: &echo.Usage{In: 5, Out: 1}, DurationMS: 400, Error: failed}
		tool := &echo.Entry{NodeType: echo.NodeToolCall, Key: turn.Numbered(echo.StepTool, 1), Tool: &echo.ToolUse{Name: text, Arguments: text}, DurationMS: 300, Error: failed}
		end := echo.NewEntry(visit.Step(echo.StepEnd), echo.PhaseEnd{})
		end.Error = failed
		inspectortest.Write(t, home, "hostile", echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{}), call, tool, end)
		b := inspectortest.New(t, home, nil)
		for _, by := range []string{"", "?by=tokens", "?part=draft"} {
			inspectortest.Harmless(t, "text "+string(rune('0'+i%10))+by, b.Open("/sessions/hostile"+by))
		}
		w := b.Ask(http.MethodGet, "/sessions/hostile?part="+url.QueryEscape(text), nil)
		inspectortest.Harmless(t, "part", w.Body.String())
		w = b.Ask(http.MethodGet, "/sessions/hostile/bill?policy="+url.QueryEscape(text)+"&prices="+url.QueryEscape(text), nil)
		require.Less(t, w.Code, 500, "%.200s", text)
		inspectortest.Harmless(t, "bill", w.Body.String())
	}
}

// runs is what a server can do, of tests. It implements inspector.Runs.
type runs struct {
	asked []string
	err   error
}

func (r *runs) Has(string) bool { return true }

func (r *runs) Cancel(_ context.Context, session string) error {
	r.asked = append(r.asked, "cancel "+session)
	return r.err
}

func (r *runs) Resume(_ context.Context, session string) error {
	r.asked = append(r.asked, "resume "+session)
	return r.err
}

func (r *runs) Fork(_ context.Context, session, place string) (string, error) {
	r.asked = append(r.asked, "fork "+session+" "+place)
	return "forked", r.err
}

var forkHere = regexp.MustCompile(`/fork"[^>]*><input type="hidden" name="token" value="([^"]+)"><input type="hidden" name="place" value="([^"]+)"><button [^>]*>Fork from here`)

type toldError struct{ error }

func (toldError) Next() string { return "wait for its end" }

// TestControl: only a form of the page does something to a run, and each attempt is audited.
func TestControl(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session := inspectortest.Copy(t, home, frozen+"/rules7/rules7_values.jsonl")
	done := &runs{}
	b := inspectortest.New(t, home, func(o *inspector.Options) { o.Runs = done })
	text := b.Open("/sessions/" + session)
	token := regexp.MustCompile(`action="/sessions/[^"]*/fork"[^>]*><input type="hidden" name="token" value="([^"]+)"`).FindStringSubmatch(text)
	require.NotNil(t, token, "%s", text)
	require.NotContains(t, text, "/cancel\"", "it does not run")
	ask := func(name, token string) int {
		return b.Ask(http.MethodPost, "/sessions/"+session+"/"+name, url.Values{"token": {token}, "place": {"draft"}}).Code
	}
	require.Equal(t, http.StatusForbidden, ask("fork", ""))
	require.Equal(t, http.StatusForbidden, ask("fork", "x"))
	require.Equal(t, http.StatusForbidden, ask("resume", token[1]), "the token is that of another form")
	require.Empty(t, done.asked)
	require.Equal(t, http.StatusSeeOther, ask("fork", token[1]))
	require.Equal(t, []string{"fork " + session + " draft"}, done.asked)
	here := forkHere.FindStringSubmatch(b.Open("/sessions/" + session + "/calls/2"))
	require.NotNil(t, here)
	require.Equal(t, token[1], here[1])
	require.Equal(t, http.StatusSeeOther, b.Ask(http.MethodPost, "/sessions/"+session+"/fork", url.Values{"token": {here[1]}, "place": {here[2]}}).Code)
	require.Equal(t, "fork "+session+" "+here[2], done.asked[1])
	require.Contains(t, b.Open("/sessions/"+session+"/calls/2"), "<code>"+here[2]+"</code></h2>", "the place of the request")
	done.err = toldError{errors.New("the session is running")}
	w := b.Ask(http.MethodPost, "/sessions/"+session+"/fork", url.Values{"token": {token[1]}, "place": {"x"}})
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "the session is running. Try: wait for its end")
	var outcomes []string
	for _, l := range b.Audit {
		outcomes = append(outcomes, l.What+" "+l.Outcome+" "+l.Via)
	}
	require.Equal(t, []string{"request refused page", "request refused page", "request refused page", "fork done page", "fork done page", "fork refused page"}, outcomes)
	require.Equal(t, audit.Fork, b.Audit[len(b.Audit)-1].What)
}
