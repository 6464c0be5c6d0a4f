package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/template"
)

// textCache parses each template of a run once. It belongs to the run's goroutine.
type textCache map[string]*template.Template

func (c textCache) parse(src string) (*template.Template, error) {
	if t, ok := c[src]; ok {
		return t, nil
	}
	t, err := template.Parse(src)
	if err == nil {
		c[src] = t
	}
	return t, err
}

// uses reports whether a template mentions a variable.
func (c textCache) uses(src, root string) bool {
	t, err := c.parse(src)
	return err == nil && t.Uses(root)
}

// text renders a template of the phase; field names it in errors and warnings.
func (v *visit) text(field, src string) (string, error) { return v.render1(field, src, v.varsFor(src)) }

func (v *visit) render1(field, src string, vars map[string]any) (string, error) {
	t, err := v.texts.parse(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return v.rendered(field, t, vars)
}

// shellText renders a template as a shell command line: every value is quoted.
func (v *visit) shellText(field, src string) (string, error) {
	t, err := template.ParseShell(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return v.rendered(field, t, v.varsFor(src))
}

func (v *visit) rendered(field string, t *template.Template, vars map[string]any) (string, error) {
	out, warnings, err := t.Render(vars)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	for _, w := range warnings {
		if err := v.warn(v.here().Named(echo.StepTemplate, field), v.place(), w); err != nil {
			return "", err
		}
	}
	return out, nil
}

// varsFor returns what templates see; the history is only spelled out for templates that mention it.
func (v *visit) varsFor(src string) map[string]any {
	vars := v.vars()
	if v.texts.uses(src, "history") {
		vars["history"] = v.fresh(historyVar(v.record.History))
	}
	return vars
}

// vars returns the variables of templates, without the history.
func (v *visit) vars() map[string]any {
	outputs := map[string]any{}
	lineage := []any{}
	for _, p := range v.session.Phases {
		if p.Done {
			outputs[p.Name] = p.Output
			lineage = append(lineage, map[string]any{"phase": p.Name, "output": p.Output})
		}
	}
	env := make(map[string]any, len(v.Env))
	for k, val := range v.Env {
		env[k] = val
	}
	input := v.spec.Input
	if input == nil {
		input = map[string]any{}
	}
	return map[string]any{
		"input": input, "state": v.fresh(v.session.State), "outputs": v.fresh(outputs), "lineage": v.fresh(lineage), "env": env,
		"turn": v.turn, "max_turns": v.phase.MaxTurns(),
		"attempt": v.attempt, "max_attempts": v.phase.MaxAttempts(), "validation_error": v.verdict,
		"sounding_index": 0, "sounding_factor": 1,
		"session": map[string]any{"id": cmp.Or(v.spec.Name, v.session.ID), "work_dir": v.spec.WorkDir},
	}
}

func historyVar(items []echo.Item) []any {
	out := make([]any, len(items))
	for i, it := range items {
		out[i] = map[string]any{"role": string(it.Message.Role()), "content": it.Message.Text()}
	}
	return out
}

// firstLine returns the first line of a text, cut to a length that fits a log.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return clip(s, 300)
}

// What is kept of a long text in an error: most of it from the end, where a program says why it failed.
const (
	excerptBytes = 2000
	excerptLines = 20
)

// excerpt shortens what a failed tool said to its beginning and its end.
func excerpt(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if left := len(lines) - excerptLines; left > 0 {
		head, tail := lines[:excerptLines/4], lines[excerptLines/4+left:]
		lines = slices.Concat(head, []string{fmt.Sprintf("[... %s left out ...]", plural(left, "line"))}, tail)
	}
	text := strings.Join(lines, "\n")
	if len(text) <= excerptBytes {
		return text
	}
	tail := text[len(text)-excerptBytes*3/4:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return clip(text, excerptBytes/4) + "\n" + tail
}

// clip cuts a text to n bytes, at a character, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
