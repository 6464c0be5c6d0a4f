package main

import (
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/term/live"
)

// chooseView picks how a run is shown on standard error.
func chooseView(con *console, quiet bool, c *cascade.Cascade, id string, n *notices) live.View {
	if quiet {
		return live.Silent{}
	}
	names := make([]string, len(c.Phases))
	for i := range c.Phases {
		names[i] = c.Phases[i].Name
	}
	return live.Choose(con.err, live.Run{Cascade: c.CascadeID, Session: id, Phases: names}, n.Notices)
}
