package waiting

import (
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Shown is a call as a person is shown it, without secrets.
type Shown struct {
	Call echo.AwaitedCall

	mask effect.Mask
	runs json.RawMessage // the arguments with which it runs when it is allowed: canonical JSON
	old  bool            // texts that look like marks are shown as they are
}

// Show returns a call as a person is shown it. A recorded wait for the same call, from when fewer secrets were known, or
// texts that look like marks were shown as they are, has shown it in another form: that is returned then, as neither
// changes anything of what runs.
func Show(call echo.AwaitedCall, mask effect.Mask, recorded *echo.Entry) *Shown {
	s := &Shown{Call: call, mask: mask, runs: call.Arguments}
	s.Call.Arguments = rewritten(s.runs, func(text string) string { return shownText(mask, text) })
	if recorded == nil {
		return s
	}
	was, err := echo.Read[echo.Wait](recorded)
	if err != nil || was.Call == nil || was.Call.Tool != call.Tool || was.Call.Cascade != call.Cascade {
		return s
	}
	args, err := Canonical(was.Call.Arguments)
	if err != nil {
		return s
	}
	switch effect.MaskedArguments(mask, string(args)) {
	case string(s.Call.Arguments):
		s.Call.Arguments = args
	case effect.MaskedArguments(mask, string(s.runs)):
		s.Call.Arguments, s.old = args, true
	}
	return s
}

// Runs returns the arguments with which a call runs after an edit: a mark that the edit has kept stands for the secret
// that runs when the call is allowed. strict refuses other marks, with a [*FormError]; without, they stay.
func (s *Shown) Runs(edit json.RawMessage, strict bool) (json.RawMessage, error) {
	known, err := secretsOf(s.mask, s.runs)
	if err != nil {
		return nil, err
	}
	r := reading{secrets: known, old: s.old, strict: strict}
	return eachString(edit, r.reveal)
}
