package frozen

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/snapshot"
)

// maskEnv returns what templates see of the granted variables, and the masks of their values.
func maskEnv(granted []string, o Options) (map[string]string, []snapshot.Mask, error) {
	for _, name := range o.KeepEnv {
		if !slices.Contains(granted, name) {
			return nil, nil, failure.New(failure.InvalidRequest, &VariableError{Name: name}, "")
		}
	}
	env := map[string]string{}
	var masks []snapshot.Mask
	for _, name := range granted {
		value, set := environment.LookupEnv(name)
		// Its record has no values any more.
		recorded := snapshot.Mask{From: secret.Placeholder(name), To: placeholder(name)}
		if slices.Contains(o.KeepEnv, name) {
			recorded.To = value
		}
		masks = append(masks, recorded)
		switch {
		case slices.Contains(o.KeepEnv, name):
			if !set {
				return nil, nil, failure.New(failure.InvalidRequest, &VariableError{Name: name, Granted: true}, "")
			}
			env[name] = value
			continue
		case !set:
			o.Warn(name + " is not set now, so its value cannot be found and replaced in the test.")
		case !snapshot.Maskable(value):
			o.Warn("the value of " + name + " is too short to be found and replaced in the test.")
		default:
			masks = append(masks, snapshot.Mask{From: value, To: placeholder(name)})
		}
		env[name] = placeholder(name)
	}
	return env, masks, nil
}

func placeholder(name string) string { return "<" + strings.ToUpper(name) + ">" }
