// Package attended has what a run asks and hears at the terminal of a command: who answers, in which editor, and what was said
// to it that no model was told.
package attended

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/editor"
	"github.com/windlass-run/windlass/internal/term/form"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/waits"
)

// Options say who is asked at a terminal what a run waits for, and how. in is the terminal, errw what an editor writes to.
func Options(home string, r *app.Run, in *os.File, errw io.Writer) live.AskerOptions {
	o := live.AskerOptions{
		In: in, By: answerflags.UserName(), Edit: editor.Of(in, errw, "arguments.json"),
		Earlier: func(list []waits.Decided) []string { return reports.Earlier(list, time.Now()) },
		Hearers: hearersOf(r.Cascade()),
	}
	o.Say = func(said form.Said) error {
		_, err := audibles.Say(context.Background(), home, time.Now(), audibles.Said{ // also in a run that is being stopped
			Session: r.ID(), Letter: strings.ToLower(ulid.Make().String()), Text: said.Text, Retry: said.Retry, Phase: said.Phase, By: o.By, Via: echo.ViaTerminal,
		})
		return err
	}
	return o
}

// hearersOf returns the phases of a cascade that hear what a person says.
func hearersOf(c *cascade.Cascade) []form.Hearer {
	var out []form.Hearer
	for p := range c.EachPhase() {
		if a := c.AudiblesOf(p); a != nil {
			out = append(out, form.Hearer{Phase: p.Name, Retries: a.Retries()})
		}
	}
	return out
}

// PrintUnheard says what a person has said to a run that has ended and no model was told. unsaid are words that were not said
// in time; name returns how commands name the session.
func PrintUnheard(w io.Writer, home string, r *app.Run, res *engine.Result, unsaid string, name func() string) {
	if unsaid != "" {
		fmt.Fprintf(w, "Not said, as the run has ended before: %s\n", term.CleanLines(unsaid))
	}
	if len(hearersOf(r.Cascade())) == 0 {
		return
	}
	list, damaged, err := audibles.List(home, r.ID())
	if err = errors.Join(append(damaged, err)...); err != nil {
		fmt.Fprintf(w, "Warning: read what was said to the run: %v\n", err)
	}
	if text := reports.Unheard(list, record.CanResume(res.Status, res.Reason)); text != "" {
		fmt.Fprintf(w, "%s %s audible %s lists what was said.\n", text, commandline.Self(), name())
	}
}
