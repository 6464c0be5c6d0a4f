// Package testflags reads the flags of windlass test, and says in their words why no test can be made or run.
package testflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/snapshot/frozen"
	"github.com/windlass-run/windlass/internal/snapshot/suite"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// CheckName refuses what cannot be the name of a test of a session.
func CheckName(name, session string) error {
	if journal.IsSessionID(name) {
		return nil
	}
	return exit.UsageError(fmt.Errorf("--name %q: use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit", name),
		"windlass test freeze "+session+" --name refund")
}

// FreezeError says in flags why a session cannot be frozen, and what to try.
func FreezeError(id string, err error) error {
	var (
		ended      *frozen.NotEndedError
		variable   *frozen.VariableError
		file       *frozen.CascadeError
		unfaithful *snapshot.UnfaithfulError
	)
	switch {
	case errors.As(err, &ended) && ended.Status == echo.StatusRunning:
		return exit.UsageError(err, "wait for its end; or windlass resume "+id)
	case errors.As(err, &ended):
		return exit.UsageError(err, "windlass resume "+id+", and then freeze it")
	case errors.As(err, new(*frozen.ExistsError)):
		return exit.UsageError(err, "another --name; or remove the file, if it is to be replaced")
	case errors.As(err, new(*frozen.WriteError)):
		return exit.With(exit.Storage, err, "--dir FOLDER with a folder that you may write to")
	case errors.As(err, new(*frozen.OriginError)):
		return exit.With(exit.Storage, err, "freeze the session with the windlass that began it")
	case errors.As(err, &variable) && variable.Granted:
		return exit.UsageError(fmt.Errorf("--keep-env %w", err), "set it to what it was in the run")
	case errors.As(err, &variable):
		return exit.UsageError(fmt.Errorf("--keep-env %w", err), "one that it was begun with as --allow-env NAME")
	case errors.As(err, &file):
		return exit.UsageError(err, cascadeHints[file.Problem])
	case errors.As(err, new(*frozen.RedactedError)):
		return err // it says what to try
	case errors.As(err, &unfaithful):
		return exit.With(exit.Failed, err, "--keep-env NAME, if it depends on the value of a granted variable; windlass verify "+id)
	}
	return err
}

// cascadeHints are the next steps for a test whose cascade has no file that can be used.
var cascadeHints = map[frozen.CascadeProblem]string{
	frozen.NoCascadeFile:      "--cascade FILE",
	frozen.UnreadableCascade:  "--cascade FILE, where it is now",
	frozen.UnreachableCascade: "--dir FOLDER beside the cascade",
}

// Aspects reads what a test is to compare.
func Aspects(given []string) ([]snapshot.Aspect, error) {
	if len(given) == 0 {
		return snapshot.Usual(), nil
	}
	chosen := map[snapshot.Aspect]bool{}
	for _, name := range given {
		a := snapshot.Aspect(strings.TrimSpace(name))
		if !slices.Contains(snapshot.Aspects(), a) {
			return nil, exit.UsageError(fmt.Errorf("--match %q: there is no such aspect", name), "--match "+strings.ReplaceAll(snapshot.Joined(snapshot.Aspects()), ", ", ","))
		}
		chosen[a] = true
	}
	return slices.DeleteFunc(snapshot.Aspects(), func(a snapshot.Aspect) bool { return !chosen[a] }), nil
}

// FindError says what may be done when there are no tests.
func FindError(err error) error {
	hint := "windlass test run DIR with a folder that can be read"
	switch {
	case errors.As(err, new(*suite.MissingError)):
		hint = "windlass test freeze SESSION --name NAME makes one; windlass test run DIR runs those of a folder"
	case errors.As(err, new(*suite.EmptyError)):
		hint = "windlass test freeze SESSION --name NAME makes one"
	}
	return exit.UsageError(err, hint)
}

// NotPassed is the error of a report with tests that did not pass; nil without any.
func NotPassed(report *suite.Report, given []string) error {
	bad := report.NotPassed()
	if bad == 0 {
		return nil
	}
	return exit.With(exit.Failed, fmt.Errorf("%d of %s did not pass", bad, term.Plural(len(report.Tests), "test")), notPassedHint(report, given))
}

// notPassedHint says what may be done about tests that did not pass.
func notPassedHint(report *suite.Report, given []string) string {
	switch {
	case report.HasUpdatable():
		return strings.Join(append([]string{"windlass test run"}, given...), " ") + " --update, if that is what you meant to change"
	case report.HasStuck():
		return "run the cascade anew and freeze that session in place of the test, if that is what you meant to change"
	default:
		return "correct what is named above"
	}
}

// WriteJUnit writes the report of --junit.
func WriteJUnit(path, name string, report *suite.Report, took time.Duration) error {
	data, err := report.JUnit(name, took)
	if err == nil {
		if err = wholefile.Replace(path, data); err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}
	if err != nil {
		return exit.With(exit.Storage, errors.Join(errors.New("--junit"), err), "--junit FILE in a folder that you may write to")
	}
	return nil
}
