package windlass

import (
	"fmt"
	"maps"
	"strings"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/protection"
)

// RunOption says how a run is started, resumed or forked. A session that is resumed or forked has
// the models and rights that it was started with, whoever resumes it; options that name others are
// refused. Tools and a provider that a program gives are not recorded: it gives them again.
type RunOption func(*runSettings)

// runSettings are what options say.
type runSettings struct {
	app.RunOptions
	cascade   *Cascade // of a fork
	startOnly []string // the options that are for sessions that start
	idGiven   bool
	err       error // the first
}

func settingsOf(opts []RunOption) (*runSettings, error) {
	s := &runSettings{}
	s.Models.Phases = map[string]string{}
	for _, o := range opts {
		if o == nil {
			s.fail(invalid("an option of the run is nil"))
			continue
		}
		o(s)
	}
	if s.err == nil {
		s.err = s.Limits.Check()
	}
	return s, s.err
}

func (s *runSettings) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// resuming refuses the options that are not for sessions that there are.
func (s *runSettings) resuming() error {
	if len(s.startOnly) > 0 {
		return failure.New(InvalidRequest, fmt.Errorf("%s: a session keeps the models and rights that it was started with", strings.Join(s.startOnly, ", ")),
			"leave these options out, or start a new session")
	}
	return nil
}

func starting(name string, set func(*runSettings)) RunOption {
	return func(s *runSettings) {
		s.startOnly = append(s.startOnly, name)
		set(s)
	}
}

// WithTool gives the run tools of the program, see [Func]. Phases name them as they name built-in
// ones.
func WithTool(tools ...Tool) RunOption {
	return func(s *runSettings) {
		for _, t := range tools {
			switch {
			case t.err != nil:
				s.fail(t.err)
			case t.fn.Run == nil:
				s.fail(invalid("tool %q: Func makes tools", t.fn.Spec.Name))
			}
			s.Extensions.Tools = append(s.Extensions.Tools, t.fn)
		}
	}
}

// WithProvider has a model of the program answer, instead of the endpoints of windlass.json,
// whatever models the cascade names.
func WithProvider(m Model) RunOption {
	return func(s *runSettings) {
		if m == nil {
			s.fail(invalid("WithProvider: the model is nil"))
			return
		}
		s.Extensions.Model = guarded{m}
	}
}

// WithModel names the model of all phases. It outranks the cascade, which outranks $WINDLASS_MODEL
// and windlass.json.
func WithModel(name string) RunOption {
	return starting("WithModel", func(s *runSettings) { s.Models.Default = name })
}

// WithModels names the models of single phases, by the names of the phases.
func WithModels(byPhase map[string]string) RunOption {
	return starting("WithModels", func(s *runSettings) { maps.Copy(s.Models.Phases, byPhase) })
}

// WithOffline has the script beside the cascade answer, FILE.script.json, and nothing is
// downloaded.
func WithOffline() RunOption {
	return starting("WithOffline", func(s *runSettings) { s.Offline = true })
}

// WithRoots grants folders to the built-in file tools. Relative paths are relative to the first.
func WithRoots(folders ...string) RunOption {
	return starting("WithRoots", func(s *runSettings) { s.Rights.Roots = append(s.Rights.Roots, folders...) })
}

// WithAllowEnv grants environment variables to templates and tools.
func WithAllowEnv(names ...string) RunOption {
	return starting("WithAllowEnv", func(s *runSettings) { s.Rights.AllowEnv = append(s.Rights.AllowEnv, names...) })
}

// WithAllowCommands lets models run any command by the built-in tool run_command.
func WithAllowCommands() RunOption {
	return starting("WithAllowCommands", func(s *runSettings) { s.Rights.AllowCommands = true })
}

// WithAllowWrite grants patterns of files that file tools may write although programs run them, as
// "cascades/*.json".
func WithAllowWrite(patterns ...string) RunOption {
	return starting("WithAllowWrite", func(s *runSettings) {
		for _, p := range patterns {
			if err := protection.CheckGrant(p); err != nil {
				s.fail(invalid("WithAllowWrite(%q): %w", p, err))
			}
		}
		s.Rights.AllowWrite = append(s.Rights.AllowWrite, patterns...)
	})
}

// WithSessionID sets the id of a new session: up to 64 letters, digits, dots, dashes and
// underscores, and not "last".
func WithSessionID(id string) RunOption {
	return func(s *runSettings) { s.SessionID, s.idGiven = id, true }
}

// Budget is what a run may spend. It outranks the budget of the cascade, and of a session that is
// resumed the one that it had. A nil field leaves a limit as it is, 0 takes it away.
type Budget struct {
	MaxUSD     *float64
	MaxTokens  *int64
	MaxSeconds *float64
}

// WithBudget limits what the run spends.
func WithBudget(b Budget) RunOption { return func(s *runSettings) { s.Limits = app.Limits(b) } }

// WithoutClickHouse keeps the session out of ClickHouse: its journal is all that is kept.
func WithoutClickHouse() RunOption { return func(s *runSettings) { s.NoClickHouse = true } }

// WithCascade has a fork run another cascade. What it has of its parent must follow from that, too.
func WithCascade(c *Cascade) RunOption {
	return func(s *runSettings) {
		switch {
		case c == nil:
			s.fail(invalid("WithCascade: the cascade is nil"))
		case c.parsed == nil:
			s.fail(invalid("WithCascade: %w", errUnmade))
		}
		s.cascade = c
	}
}
