package cascade

import (
	"strconv"
	"time"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/inputs"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/internal/source"
)

// checkForms reports values that the JSON Schema accepts but that do not decode, and marks them to
// be left out: descriptions of inputs that are no strings, and time spans.
func checkForms(d *document.Document, title string) {
	if title == wording.Settings || d.Full() {
		return // They have neither.
	}
	root := d.Root()
	checkOwner(root)
	for i := range items(root.Key("tools")) {
		checkOwner(root.Key("tools").Index(i))
	}
	for i := range items(root.Key("phases")) {
		for at := root.Key("phases").Index(i); at.Node() != nil; at = at.Key("on_error") {
			checkOwner(at)
		}
	}
}

func items(at place) []*source.Node {
	if n := at.Node(); n != nil {
		return n.Items
	}
	return nil
}

func checkOwner(at place) {
	inputs.CheckNames(at.Key("inputs_schema"))
	timeout := at.Key("timeout")
	n := timeout.Node()
	if n == nil || n.Kind != source.String || !timeout.Sound() {
		return
	}
	if v, err := time.ParseDuration(n.Text); err != nil || v <= 0 {
		timeout.Spoil(source.Nullify)
		timeout.Error(CodeInvalidValue, strconv.Quote(n.Text)+" is no time span above zero", wording.SpanHint)
	}
}
