package live

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/term"
)

// ended says how a phase or a child ended, and why where that says more.
func ended(s echo.Status, r echo.StopReason) string {
	if s == echo.StatusWaiting {
		return s.String()
	}
	return fmt.Sprintf("%s (%s)", s, r)
}

// waitText says what a run waits for; "": the entry cannot be read.
func waitText(e *echo.Entry) string {
	w, err := echo.Read[echo.Wait](e)
	if err != nil {
		return ""
	}
	text := "waits for " + term.OneLine(effect.Awaited(&w))
	if w.Kind != echo.WaitApproval && w.Form != nil {
		text += ": " + term.Cut(term.OneLine(w.Form.Question), 200)
	}
	return text
}

// answerText says how a wait has ended, and by whom; "": the entry cannot be read.
func answerText(e *echo.Entry) string {
	a, err := echo.Read[echo.Answer](e)
	if err != nil {
		return ""
	}
	by := fmt.Sprintf("by %s (%s)", cmp.Or(term.OneLine(a.By), "somebody"), a.Via)
	switch {
	case a.TimedOut:
		return "nothing has come in time"
	case a.Letter != "":
		return "a signal has come, sent " + by
	case a.Via == echo.ViaGrant:
		return "allowed by an earlier approval of " + term.OneLine(a.By)
	}
	m, _ := a.Value.(map[string]any)
	verbs := map[any]string{"allow": "allowed ", "deny": "denied ", "edit": "allowed with other arguments "}
	if verb := verbs[m["decision"]]; verb != "" && a.Shown != "" {
		return verb + by
	}
	return "answered " + by
}

// audibleText says what a person has said to a phase; "": the entry is none of that.
func audibleText(e *echo.Entry) string {
	a, err := echo.Read[echo.Audible](e)
	if err != nil || a.Problem != "" { // a warning says it
		return ""
	}
	verb := "says"
	if a.Retry {
		verb = "wants another answer and says"
	}
	return fmt.Sprintf("%s %s: %s", cmp.Or(term.OneLine(a.By), "somebody"), verb, term.Cut(term.OneLine(a.Text), 200))
}

// Tokens writes the tokens that calls took and gave.
func Tokens(u echo.Usage) string {
	return fmt.Sprintf("in %s  cached %s  out %s", term.Count(u.In), term.Count(u.Cached), term.Count(u.Out))
}

// selectionLine says what came into a phase of earlier ones; "": the entry cannot be read.
func selectionLine(e *echo.Entry) string {
	s, err := echo.Read[echo.InterSelection](e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("context by %s: %s, %d of %d candidates; %s of %s tokens", s.Strategy, term.Plural(len(s.Anchors), "anchor"),
		len(s.Chosen), s.Candidates, term.Count(s.Sent()), term.Count(s.Everything))
}

// guardLine says what the guard of a phase's context did; "": the entry cannot be read.
func guardLine(e *echo.Entry) string {
	ev, err := echo.Read[echo.Guard](e)
	if err != nil {
		return ""
	}
	detail := term.OneLine(ev.Detail)
	if detail != "" {
		detail = ": " + detail
	}
	switch ev.Event {
	case echo.GuardWarning:
		return fmt.Sprintf("context at %s of its limit (%s of %s tokens)%s",
			term.Share(ev.Tokens, ev.Limit), term.Count(ev.Tokens), term.Count(ev.Limit), detail)
	case echo.GuardActing:
		return fmt.Sprintf("making room in the context (%s of %s tokens)%s", term.Count(ev.Tokens), term.Count(ev.Limit), detail)
	case echo.GuardComplete:
		return fmt.Sprintf("made room in the context, %s -> %s tokens%s", term.Count(ev.Before), term.Count(ev.Tokens), detail)
	default:
		return ""
	}
}

// toolText names a tool and what it was called with.
func toolText(name, arguments string) string {
	return "tool " + joined(" ", term.OneLine(name), term.Cut(argumentHint(arguments), 80))
}

// toolFailure says how a tool call failed and why. A call that was refused took no time.
func toolFailure(e *echo.Entry) string {
	took, reason := "", reasonOf(e)
	if e.DurationMS > 0 {
		took = term.Millis(e.DurationMS)
	}
	if e.Error.Kind == effect.KindUnfinished { // what the model reads of it is long, and the same for each
		reason = "the run was stopped while it ran; it is not run again"
	}
	return joined(": ", columns(toolText(e.Tool.Name, e.Tool.Arguments), "failed ("+e.Error.Kind+")", took), reason)
}

// modelFailure says how a model call failed and why.
func modelFailure(e *echo.Entry) string {
	return fmt.Sprintf("%smodel %s failed (%s): %s", purposeOf(e), e.Model, e.Error.Kind, term.OneLine(e.Error.Message))
}

// exitStatus is the kind of a failure of a program that ended with another status than 0.
const exitStatus = "exit_status"

// reasonOf is the reason that an entry has for a failure, in one line.
func reasonOf(e *echo.Entry) string {
	if e.Error == nil {
		return ""
	}
	if e.Message != nil && e.Error.Kind == exitStatus { // the first line of what a program printed rarely says why it failed
		return lastWords(e.Message.Text())
	}
	reason := lastWords(e.Error.Message)
	if e.Message == nil || !strings.HasSuffix(reason, ":") { // it is the first line of what the model reads
		return reason
	}
	if lines := linesOf(e.Message.Text()); len(lines) > 1 {
		return reason + " " + term.Cut(term.OneLine(lines[1]), 160)
	}
	return reason
}

// lastWords is a text in one line of at most 160 columns: of several lines the last ones, where a
// program says why it failed.
func lastWords(text string) string {
	const width = 160
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return term.Cut(term.OneLine(text), width)
	}
	return term.Cut(term.OneLine(excerpt.Last(text, mostBelow, width)), width)
}

// purposeOf says what a model call was made for, before its model; "" for the next answer.
func purposeOf(e *echo.Entry) string {
	switch purpose := e.Key.Purpose(); purpose {
	case "":
		return ""
	case echo.PurposeValidator:
		return "validator " + e.Key.Validator() + ": "
	case echo.PurposeJudge:
		p := e.Key.Path()
		return fmt.Sprintf("%s %d: ", p.Effect[0].Kind, p.Effect[0].Number)
	default:
		return purposeWords(purpose) + ": "
	}
}

// purposes are the words for what a call does that is not the next answer.
var purposes = map[echo.Purpose]string{
	echo.PurposeRecount: "having the request counted",
	echo.PurposeSelect:  "choosing context",
	echo.PurposeCards:   "summing messages up for their cards",
	echo.PurposeEmbed:   "embedding messages",

	echo.PurposeJudge:     "judging candidates",
	echo.PurposeAggregate: "writing one answer from all",
	echo.PurposeRewrite:   "rewriting instructions",
}

func purposeWords(p echo.Purpose) string { return cmp.Or(purposes[p], "summing up older messages") }

// choiceText says what a choice among candidates came to; "": the entry cannot be read.
func choiceText(e *echo.Entry) string {
	d, err := echo.Read[echo.Choice](e)
	if err != nil {
		return ""
	}
	return chosen.Line(&d)
}

// soundingText says what an entry does about candidates that is of note; "" for nothing.
func soundingText(e *echo.Entry) string {
	if d, err := echo.Read[echo.Candidate](e); err == nil {
		return joined(", ", fmt.Sprintf("candidate %d of %d", d.Index+1, d.Factor), term.OneLine(d.Model), term.Cut(variedText(d.Mutation), 80))
	}
	if d, err := echo.Read[echo.Ballot](e); err == nil {
		return pairText(&d)
	}
	return choiceText(e)
}
