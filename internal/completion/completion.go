// Package completion offers what a shell completes of the command line. It reads the folder of the
// sessions, the files that a command names, and windlass.json. It restores, fetches, starts and asks for
// nothing, and offers nothing where it finds an error.
package completion

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/term"
)

// mostCompleted is how many sessions are offered; who wants another one writes more of its id.
const mostCompleted = 20

// Sessions offers the newest sessions of a home folder that are not given yet: the first as last, each by its short id, or by its
// whole one where that has been begun; then the cascades of the newest ones.
func Sessions(home string, given []string, written string, scope names.Scope) []string {
	all, err := archive.Folders(home)
	if err != nil {
		return nil
	}
	short := names.Short(all, nil)
	var fit []string
	shortOf := map[string]string{}
	for i, id := range all {
		if (strings.HasPrefix(id, written) || strings.HasPrefix(short[i], written)) && !slices.Contains(given, short[i]) && !slices.Contains(given, id) {
			fit = append(fit, id)
			shortOf[id] = short[i]
		}
	}
	var out []string
	now := time.Now()
	recent := archive.Recent(home, fit, mostCompleted)
	if word := "last"; scope == names.Everything && strings.HasPrefix(word, written) {
		newest := recent
		if written != "" {
			newest = archive.Recent(home, all, 1)
		}
		if len(newest) > 0 {
			out = append(out, described(word, &newest[0], now))
		}
	}
	for i := range recent {
		name := shortOf[recent[i].ID]
		if !strings.HasPrefix(name, written) {
			name = recent[i].ID
		}
		out = append(out, described(name, &recent[i], now))
	}
	if scope == names.Everything {
		out = append(out, cascadesOf(archive.Recent(home, all, recentCascades), given, written)...)
	}
	return out
}

// recentCascades is of how many sessions the cascades are offered.
const recentCascades = 20

// cascadesOf offers the ids of the cascades of sessions: each means the newest of its sessions.
func cascadesOf(recent []archive.Candidate, given []string, written string) (out []string) {
	for i := range recent {
		id := recent[i].CascadeID
		if id == "" || term.Cell(id) != id || !strings.HasPrefix(id, written) || slices.Contains(given, id) {
			continue
		}
		if c := id + "\tthe newest session of this cascade"; !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// described is a candidate as shells are given it: the word, a tab, and what a shell shows beside it.
func described(name string, s *archive.Candidate, now time.Time) string {
	parts := []string{s.CascadeID, s.Status}
	if !s.StartedAt.IsZero() {
		parts = append(parts, ago(now.Sub(s.StartedAt)))
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return name + "\t" + strings.ReplaceAll(term.OneLine(strings.Join(parts, ", ")), "\t", " ")
}

// ago says how long something is past, in one unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return term.Plural(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return term.Plural(int(d/time.Hour), "hour") + " ago"
	}
	return term.Plural(int(d/(24*time.Hour)), "day") + " ago"
}

// phasesOf offers the phases of the cascade of the session here that a name means.
func phasesOf(home, session string) (phases []string) {
	id, err := (&archive.Archive{Home: home, Scope: names.Everything}).Here(session)
	if err != nil || id == "" {
		return nil
	}
	s, _ := sessions.Look(config.SessionDir(home, id)) // of a journal that is damaged later on the header is enough
	var c struct {
		Phases []struct {
			Name string `json:"name"`
		} `json:"phases"`
	}
	_ = json.Unmarshal(s.Header.Cascade, &c) // one that is no cascade has no phases
	for _, p := range c.Phases {
		phases = append(phases, term.Cell(p.Name))
	}
	return phases
}
