package servertest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// SameFields demands that a schema has the members of a type, and requires what is always there.
func (d *Description) SameFields(t *testing.T, name string, v any) {
	t.Helper()
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		More       *bool                      `json:"additionalProperties"`
	}
	raw := d.Components.Schemas[name]
	require.NotEmpty(t, raw, "the description has no schema %s", name)
	require.NoError(t, json.Unmarshal(raw, &form))
	require.True(t, form.More != nil && !*form.More, "schema %s allows members that it does not describe", name)
	var described []string
	for member := range form.Properties {
		described = append(described, member)
	}
	all, always := members(reflect.TypeOf(v))
	for _, list := range [][]string{described, form.Required, all, always} {
		slices.Sort(list)
	}
	require.Equal(t, all, described, "the members of %s", name)
	require.Equal(t, always, append([]string(nil), form.Required...), "the required members of %s", name)
}

func members(typ reflect.Type) (all, always []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			more, needed := members(f.Type)
			all, always = append(all, more...), append(always, needed...)
			continue
		case !f.IsExported() || name == "-":
			continue
		}
		all = append(all, name)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			always = append(always, name)
		}
	}
	return all, always
}
