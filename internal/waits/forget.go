package waits

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/mailbox"
)

// Forget removes the letters that a session has taken, whose content its record has: before something of the record is
// redacted, as a letter would keep it. What nobody has taken stays.
func Forget(home, session string, entries []*echo.Entry) error {
	for _, e := range entries {
		if p := e.Key.Path(); e.NodeType == echo.NodeValue && p.Last().Kind == echo.StepAudible {
			if err := forgetAudible(home, session, e); err != nil {
				return err
			}
		}
		if e.NodeType != echo.NodeAnswer {
			continue
		}
		a, err := echo.Read[echo.Answer](e)
		if err != nil {
			return fmt.Errorf("session %s: %w", session, err)
		}
		if err := Box(home, session).Forget(echo.WaitID(session, e.Key)); err != nil {
			return err
		}
		if a.Letter == "" {
			continue
		}
		for _, box := range []mailbox.Box{Box(home, session), HomeBox(home)} {
			if err := box.ForgetSignal(a.Letter); err != nil {
				return err
			}
		}
	}
	return nil
}

func forgetAudible(home, session string, e *echo.Entry) error {
	a, err := echo.Read[echo.Audible](e)
	if err != nil {
		return fmt.Errorf("session %s: %w", session, err)
	}
	return mailbox.Audibles{Box: Box(home, session)}.Forget(a.Letter)
}

// Redacted returns the ids of the open waits of a session whose answer was left, is not taken yet and has a text that
// is to go, which has reports.
func Redacted(home, session string, entries []*echo.Entry, has func(text string) bool) []string {
	var out []string
	for _, e := range record.OpenWaits(entries) {
		id := echo.WaitID(session, e.Key)
		if a, err := Box(home, session).Answered(id); err == nil && a != nil && hasText(a.Value, has) {
			out = append(out, id)
		}
	}
	return out
}

// RedactedAudibles returns the letters of what was said to a session, is not taken yet and has a text that is to go.
func RedactedAudibles(home, session string, has func(text string) bool) (letters []string) {
	all, err := mailbox.Audibles{Box: Box(home, session)}.All()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if a.Taken == "" && has(a.Text) {
			letters = append(letters, a.Letter)
		}
	}
	return letters
}

// ForgetAudibles removes what was said to a session and no run has taken.
func ForgetAudibles(home, session string, letters []string) error {
	for _, letter := range letters {
		if err := (mailbox.Audibles{Box: Box(home, session)}).Forget(letter); err != nil {
			return err
		}
	}
	return nil
}

// ForgetAnswers removes the answers to waits that no run has taken: they are open again.
func ForgetAnswers(home, session string, ids []string) error {
	for _, id := range ids {
		if err := Box(home, session).Forget(id); err != nil {
			return err
		}
	}
	return nil
}

// hasText reports whether a value that came from JSON has a text, or is one.
func hasText(value any, has func(string) bool) bool {
	switch v := value.(type) {
	case string:
		return has(v)
	case json.Number:
		return has(v.String())
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return hasText(x, has) })
	case map[string]any:
		for name, x := range v {
			if has(name) || hasText(x, has) {
				return true
			}
		}
	}
	return false
}
