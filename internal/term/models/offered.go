package models

import (
	"cmp"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

// Offered is a model that an endpoint lists.
type Offered struct {
	ID    string `json:"id"`
	Known *Model `json:"known,omitempty"` // what a run would take for it; nil: nothing is known
}

// OfEndpoint is a model of an endpoint with what is known of it.
func OfEndpoint(cfg *config.Config, id string) Offered {
	o := Offered{ID: id}
	if _, ok := cfg.Models[id]; ok {
		m := configured(cfg, id)
		o.Known = &m
	} else if c, ok := llm.LookupCard(id); ok {
		m := ofCard(&c, c.Model)
		o.Known = &m
	}
	return o
}

// Cells are those of a row; "-" is what is not known.
func (o *Offered) Cells() []string {
	if o.Known == nil {
		return []string{o.ID, "-", "-", "-", "-", "-", "-"}
	}
	m := o.Known
	return append([]string{o.ID, cmp.Or(m.Name, "-"), m.windowText()}, m.Price.cells()...)
}
