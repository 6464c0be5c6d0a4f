// Package scheduling writes the schedules of a cascade for programs that begin runs at times: cron, systemd and
// Kubernetes.
package scheduling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/internal/commandline"
)

// Source is what is to run, and for whom the text is.
type Source struct {
	Cascade string // its cascade_id
	File    string // the path of its file where it runs
	Program string // windlass, as it is called there
	Image   string // of a container: its image
}

// Formats are the programs that a text can be written for.
var Formats = []string{"cron", "systemd", "kubernetes"}

// Export returns the text of schedules for one of Formats: of each trigger that is a cron and enabled. Others are left
// out. The error says which schedule has no times.
func Export(format string, s Source, list []triggers.Trigger) (string, error) {
	write := map[string]func(*strings.Builder, *Source, *triggers.Trigger, *triggers.Times){"cron": crontab, "systemd": units, "kubernetes": cronJob}[format]
	if write == nil {
		return "", fmt.Errorf("there is no format %q", format)
	}
	var b strings.Builder
	for i := range list {
		t := &list[i]
		if !Exported(t) {
			continue
		}
		times, err := t.Times()
		if err != nil {
			return "", fmt.Errorf("trigger %s: %w", t.Name, err)
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		write(&b, &s, t, times)
	}
	return b.String(), nil
}

// Exported reports whether a trigger has a line in what is exported.
func Exported(t *triggers.Trigger) bool { return t.Type == triggers.Cron && t.IsEnabled() }

// arguments are those of the program for one run.
func (s *Source) arguments(t *triggers.Trigger) []string {
	args := []string{"run", s.File, "--progress", "plain"}
	if len(t.Inputs) > 0 {
		args = append(args, "--input-json", inputJSON(t.Inputs))
	}
	return args
}

// inputJSON returns the input of a run in one line.
func inputJSON(input map[string]any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(input); err != nil { // it came from JSON
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// title is the first line about a trigger, without what would end a comment.
func title(s *Source, t *triggers.Trigger) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			return ' '
		}
		return r
	}, strings.TrimSuffix(fmt.Sprintf("%s of %s: %s", t.Name, s.Cascade, t.Description), ": "))
}

// crontab writes a line of a crontab. cron ends a command at a percent sign that has no backslash.
func crontab(b *strings.Builder, s *Source, t *triggers.Trigger, _ *triggers.Times) {
	words := []string{commandline.Quote(s.Program)}
	for _, a := range s.arguments(t) {
		words = append(words, commandline.Quote(a))
	}
	command := strings.ReplaceAll(strings.Join(words, " "), "%", `\%`)
	fmt.Fprintf(b, "# %s\nCRON_TZ=%s\n%s %s\n", title(s, t), t.Zone(), strings.Join(strings.Fields(t.Schedule), " "), command)
}

// name returns what units and objects of a trigger are called: lower-case letters, digits and hyphens, at most 52 of them,
// which is the most that Kubernetes takes.
func name(s *Source, t *triggers.Trigger) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s.Cascade))
	const most = 52
	room := max(0, most-len("windlass--")-len(t.Unit()))
	id = strings.Trim(id[:min(len(id), room)], "-")
	return strings.Join(slices.DeleteFunc([]string{"windlass", id, t.Unit()}, func(p string) bool { return p == "" }), "-")
}
