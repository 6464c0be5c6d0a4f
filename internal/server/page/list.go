package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/waits"
)

type listView struct {
	frame
	Waits  []listed
	Unread []string
	State  string // what the script asks for, to say that the list has changed
}

// listed is a wait in the list.
type listed struct {
	*waits.Wait
	Kind, Line string
	Severity   string // of a decision, as its asker calls it
	Age        string
	Ends       string
}

func listedAt(w *waits.Wait, now time.Time) listed {
	var severity string
	if w.Form != nil {
		severity = oneline.Cut(oneline.Of(clean(w.Form.Severity)), 40)
	}
	return listed{
		Severity: severity,
		Wait:     w, Kind: kindName(w.Kind), Line: oneline.Cut(oneline.Of(clean(w.Asked)), 200), Age: span(now.Sub(w.Since)), Ends: endsIn(w, now),
	}
}

func (r *request) list() error {
	if code := r.r.URL.Query().Get("code"); code != "" {
		r.open(code)
		return nil
	}
	if !r.needLogin() {
		return nil
	}
	all, unread, err := r.Desk.List(r.ctx())
	if err != nil {
		return err
	}
	v := listView{frame: r.frame("What runs wait for"), Unread: unread, State: stateOf(all)}
	for _, w := range all {
		v.Waits = append(v.Waits, listedAt(w, r.Now()))
	}
	r.show(r.views, http.StatusOK, "list", v)
	return nil
}

var kindNames = map[echo.WaitKind]string{
	echo.WaitQuestion: "Question", echo.WaitInput: "Question of the phase", echo.WaitApproval: "Approval", echo.WaitDecision: "Decision",
	echo.WaitChoice: "Choice", echo.WaitSignal: "Signal", echo.WaitAny: "Answer or signal",
}

func kindName(k echo.WaitKind) string {
	if name := kindNames[k]; name != "" {
		return name
	}
	return string(k)
}

// endsIn says how long a wait can still be answered.
func endsIn(w *waits.Wait, now time.Time) string {
	switch {
	case w.Answer != nil:
		return "answered"
	case w.Deadline == nil:
		return "no end"
	case !now.Before(*w.Deadline):
		return "ended"
	}
	return "ends in " + span(w.Deadline.Sub(now))
}

// stateOf returns a text that is another one when the list shows other waits, or one of them has an answer.
func stateOf(list []*waits.Wait) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "%s %t\n", w.ID, w.Answer != nil)
	}
	return short(b.String())
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// state tells the script of a page what the page would show now.
func state(r *request) error {
	if r.login == nil {
		return &statusError{http.StatusUnauthorized, "Closed", "Open the page again.", "refused"}
	}
	all, _, err := r.Desk.List(r.ctx())
	if err != nil {
		return err
	}
	answer := map[string]string{"list": stateOf(all)}
	if id := r.r.URL.Query().Get("wait"); id != "" {
		answer["wait"] = "ended"
		for _, w := range all {
			if w.ID == id && w.Answer == nil {
				answer["wait"] = versionOf(w)
			}
		}
	}
	r.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(r.w).Encode(answer) // a browser that went away is told nothing
	return nil
}
