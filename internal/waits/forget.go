package waits

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
)

// Forget removes the letters that a session has taken, whose content its record has: before something of the record is
// redacted, as a letter would keep it. What nobody has taken stays.
func Forget(home, session string, entries []*echo.Entry) error {
	for _, e := range entries {
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
