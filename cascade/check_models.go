package cascade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// checkFallback refuses fallback_models with a blank one, the model itself, or one twice.
func checkFallback(owner place, model string, list []string) {
	at := owner.Key("fallback_models")
	for i, name := range list {
		switch where := at.Index(i); {
		case strings.TrimSpace(name) == "":
			where.Error(CodeEmptyModel, "fallback_models of "+describe(owner)+" names a model of nothing", "name a model, or remove the element")
		case name == model:
			where.Error(CodeInvalidValue, fmt.Sprintf("fallback_models of %s has %q, the model that they stand in for", describe(owner), name), "remove it")
		case slices.Index(list, name) < i:
			where.Error(CodeInvalidValue, fmt.Sprintf("fallback_models of %s has %q twice", describe(owner), name), "remove one of the two")
		}
	}
}

// modelOf returns the model that the file names for a phase; "": others bring it.
func (c *Cascade) modelOf(p *Phase) string { return cmp.Or(p.Model, c.Model) }
