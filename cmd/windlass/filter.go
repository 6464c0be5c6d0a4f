package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/filter"
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
func (f *filterFlags) filter(cmd *cobra.Command, arc *archive.Archive) (clickhouse.Filter, error) {
	given := func(name string, value *string) *string {
		if !cmd.Flags().Changed(name) {
			return nil
		}
		return value
	}
	words := filter.Words{Since: given("since", &f.since), Cascade: given("cascade", &f.cascade), Session: given("session", &f.session), Tags: f.tags}
	out, err := filter.Parse(&words, time.Now())
	if err == nil && f.session != "" {
		out.Session, err = arc.Find(cmd.Context(), f.session)
	}
	return out, err
}
