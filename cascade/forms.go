package cascade

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/internal/source"
)

// checkForms reports values that the JSON Schema accepts but that do not decode, and marks them to
// be left out: descriptions of inputs that are no strings, and time spans.
func (d *document) checkForms() {
	if d.title == titleSettings {
		return // They have neither.
	}
	root := place{doc: d}
	d.checkOwner(root)
	for i := range items(root.key("tools")) {
		d.checkOwner(root.key("tools").index(i))
	}
	for i := range items(root.key("phases")) {
		for at := root.key("phases").index(i); at.node() != nil; at = at.key("on_error") {
			d.checkOwner(at)
		}
	}
}

func items(at place) []*source.Node {
	if n := at.node(); n != nil {
		return n.Items
	}
	return nil
}

func (d *document) checkOwner(at place) {
	d.checkInputNames(at.key("inputs_schema"))
	timeout := at.key("timeout")
	n := timeout.node()
	if n == nil || n.Kind != source.String || d.edits[timeout.pointer] != source.Keep {
		return
	}
	if v, err := time.ParseDuration(n.Text); err != nil || v <= 0 {
		d.edits[timeout.pointer] = source.Nullify
		timeout.error(CodeInvalidValue, strconv.Quote(n.Text)+" is no time span above zero", spanHint)
	}
}

const spanHint = `write seconds as a number, or a span as "90s", "5m" or "1h30m"`

func (d *document) checkInputNames(at place) {
	n := at.node()
	if n == nil || n.Kind != source.Object || d.edits[at.pointer] != source.Keep || isSchemaNode(n) {
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind != source.String {
			d.edits[at.key(m.Key).pointer] = source.Drop
			at.key(m.Key).error(CodeWrongType, fmt.Sprintf("the input %q has no description: expected a string", m.Key),
				`write {"name": "what it is"}, or a full JSON Schema with "type": "object"`)
		}
	}
}

func isSchemaNode(n *source.Node) bool {
	var keys map[string]json.RawMessage
	return json.Unmarshal(n.JSON(nil), &keys) == nil && isSchema(keys)
}
