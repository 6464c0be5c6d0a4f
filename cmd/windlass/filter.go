package main

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

// filterFlags are the flags by which reports leave out sessions and calls.
type filterFlags struct {
	since, cascade, session string
	tags                    []string
}

// sinceOf says in the help of --since what must be no older.
func (f *filterFlags) add(cmd *cobra.Command, sinceOf string) {
	cmd.Flags().StringVar(&f.since, "since", "", sinceOf+": an age as in 36h, 7d or 8w, or a date as in 2026-11-01 (UTC)")
	cmd.Flags().StringVar(&f.cascade, "cascade", "", "only runs of the cascade with this id")
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "only runs whose cascade has this tag; KEY also means KEY=VALUE (repeatable)")
}

func (f *filterFlags) addSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.session, "session", "", "only this session, by any of its names")
}

// filter reads the flags; the names of sessions are looked up.
func (f *filterFlags) filter(ctx context.Context, cmd *cobra.Command, arc *archive.Archive, now time.Time) (clickhouse.Filter, error) {
	out := clickhouse.Filter{Cascade: f.cascade, Tags: f.tags}
	for _, name := range []string{"cascade", "session"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return out, usageError(fmt.Errorf("--%s is empty", name), map[string]string{"cascade": "--cascade incident", "session": "--session last"}[name])
		}
	}
	for _, tag := range f.tags {
		if key, _, _ := strings.Cut(tag, "="); key == "" {
			return out, usageError(fmt.Errorf("--tag %q has no key", tag), "--tag nightly, or --tag team=search")
		}
	}
	if cmd.Flags().Changed("since") {
		at, ok := parseSince(f.since, now)
		if !ok {
			return out, usageError(fmt.Errorf("--since %q is no age and no date", f.since), "--since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z")
		}
		out.Since = at
	}
	if f.session == "" {
		return out, nil
	}
	var err error
	out.Session, err = arc.Find(ctx, f.session)
	return out, err
}

// parseSince reads an age before now, a day in UTC, or a time.
func parseSince(text string, now time.Time) (time.Time, bool) {
	if age, ok := parseAge(text); ok {
		return now.Add(-age), true
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

var ageForm = regexp.MustCompile(`^([1-9][0-9]{0,4})(h|d|w)$`)

// parseAge reads an age in hours, days or weeks. One that no duration can hold is none.
func parseAge(text string) (time.Duration, bool) {
	m := ageForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1]) // five digits
	unit := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	return time.Duration(n) * unit, time.Duration(n) <= math.MaxInt64/unit
}
