package cascade

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/suggestion"
	"github.com/windlass-run/windlass/schema"
)

// violation reports what the schema found and marks the value to be left out when decoding.
func (d *document) violation(v schema.Violation) {
	at := place{doc: d, pointer: v.Pointer}
	switch v.Keyword {
	case "additionalProperties":
		d.edits[at.key(v.Property).pointer] = source.Drop
		d.unknownKey(at, v)
	case "required":
		if !d.meant[at.key(v.Property).pointer] {
			at.error(CodeMissingKey, fmt.Sprintf("%s has no %q", describe(at), v.Property), "add it")
		}
	default:
		d.edits[v.Pointer] = source.Nullify
		d.wrongValue(at, v)
	}
}

func (d *document) unknownKey(at place, v schema.Violation) {
	key := v.Property
	if d.laterKey(v.Pointer, key) {
		at.keyError(key, CodeNotSupportedYet, fmt.Sprintf("%q is not supported yet by this version of windlass", key), "remove it")
		return
	}
	hint := "known here are " + strings.Join(v.Expected, ", ")
	if home := interKeyHome(v.Pointer, key); home != "" {
		hint = home
	} else if near := suggestion.For(key, v.Expected); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
		d.meant[at.key(near).pointer] = true
	} else if home := keyHome(key); home != "" {
		hint = fmt.Sprintf("%q belongs %s", key, home)
	}
	at.keyError(key, CodeUnknownKey, fmt.Sprintf("unknown key %q in %s", key, describe(at)), hint)
}

func (d *document) wrongValue(at place, v schema.Violation) {
	n := at.node()
	if text, hint := laterValue(v.Pointer, n); text != "" {
		at.error(CodeNotSupportedYet, text+" is not supported yet by this version of windlass", hint)
		return
	}
	what := describe(at)
	code, message, hint := CodeInvalidValue, what+": "+v.Message, ""
	switch v.Keyword {
	case "type":
		code, hint = CodeWrongType, typeHint(v, n)
	case "enum", "const":
		hint = enumHint(v, n)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		code, message = CodeOutOfRange, what+" "+v.Message
	case "minItems":
		message = what + " " + v.Message
		if v.Pointer == "/phases" {
			code, message = CodeNoPhases, "the cascade has no phases"
			hint = `add at least one, as {"name": "answer", "instructions": "..."}`
		}
	case "pattern":
		if c, m, h := wrongText(v.Pointer, strconv.Quote(n.Text)); c != "" {
			code, message, hint = c, m, h
		}
	}
	at.error(code, message, hint)
}

// typeHint says how to write what was probably meant.
func typeHint(v schema.Violation, n *source.Node) string {
	if n == nil || n.Kind != source.String {
		return ""
	}
	if slices.Contains(v.Expected, "boolean") && slices.Contains([]string{"on", "off", "yes", "no"}, strings.ToLower(n.Text)) {
		return "write true or false" // YAML had these words once, and people still write them.
	}
	_, notNumber := strconv.ParseFloat(n.Text, 64)
	_, notBool := strconv.ParseBool(n.Text)
	if slices.ContainsFunc(v.Expected, func(t string) bool {
		return (t == "integer" || t == "number") && notNumber == nil || t == "boolean" && notBool == nil
	}) {
		return "remove the quotes"
	}
	if slices.Contains(v.Expected, "array") {
		return fmt.Sprintf("write it as a list: [%q]", n.Text)
	}
	return ""
}

func enumHint(v schema.Violation, n *source.Node) string {
	if n == nil || n.Kind != source.String {
		return ""
	}
	if near := suggestion.For(strconv.Quote(n.Text), v.Expected); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// wrongText explains a string that a pattern refuses by its key; the code is empty for other keys.
func wrongText(pointer, text string) (code Code, message, hint string) {
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "name":
		return CodeInvalidName, text + " cannot be the name of a phase",
			"a phase's name starts with a letter or underscore and goes on with letters, digits, _ and -"
	case "tool_id":
		return CodeInvalidName, text + " cannot be the name of a tool", "a tool's name has letters, digits, _ and -, at most 64 of them"
	case "timeout":
		return CodeInvalidValue, text + " is no time span above zero", spanHint
	case "cascade_id":
		return CodeInvalidName, "the cascade_id is empty", "name the workflow, as logs and cost reports are to show it"
	}
	return "", "", ""
}

// describe names a place for messages: the phase, tool or validator around it and the path inside.
func describe(at place) string {
	tokens := source.SplitPointer(at.pointer)
	var owner string
	var rest []string
	switch {
	case len(tokens) == 0:
		return at.doc.title
	case len(tokens) >= 2 && tokens[0] == "phases":
		owner, rest = named("phase", place{at.doc, "/phases"}, tokens[1], "name"), tokens[2:]
	case len(tokens) >= 2 && tokens[0] == "tools":
		owner, rest = named("tool", place{at.doc, "/tools"}, tokens[1], "tool_id"), tokens[2:]
	case len(tokens) >= 2 && tokens[0] == "validators":
		owner, rest = fmt.Sprintf("validator %q", tokens[1]), tokens[2:]
	default:
		return fmt.Sprintf("%q", strings.Join(tokens, "."))
	}
	if len(rest) == 0 {
		return owner
	}
	return fmt.Sprintf("%q of %s", strings.Join(rest, "."), owner)
}

func named(kind string, list place, index, key string) string {
	if n := list.key(index).node(); n != nil {
		if name := n.Get(key); name != nil && name.Kind == source.String && name.Text != "" {
			return fmt.Sprintf("%s %q", kind, name.Text)
		}
	}
	if i, err := strconv.Atoi(index); err == nil {
		return fmt.Sprintf("%s %d", kind, i+1)
	}
	return kind
}

func keysOf[T any]() []string {
	var keys []string
	for field := range reflect.TypeFor[T]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// keyHome says where a key belongs that people misplace; "" for any other.
func keyHome(key string) string {
	switch {
	case slices.Contains(keysOf[Rules](), key):
		return `in the phase's "rules"`
	case key != "enabled" && slices.Contains(keysOf[IntraContext](), key):
		return `in the phase's "intra_context", or for all phases in "auto_context": {"intra_phase": {...}}`
	case key == "intra_context":
		return `in a phase; for all phases write "auto_context": {"intra_phase": {...}}`
	case key == "auto_context":
		return `in the cascade; a phase has "intra_context"`
	case key == "intra_phase":
		return `in the cascade's "auto_context"; a phase has "intra_context"`
	case key == "token_budget":
		return `in the cascade; for one phase write "token_budget": {"phase_overrides": {"NAME": {...}}}`
	case slices.Contains([]string{"instructions", "tackle", "handoffs", "rules", "output_schema", "callouts", "context", "routing", "on_error"}, key):
		return "in a phase"
	}
	return ""
}

// interKeyHome is keyHome for the context between phases. Some keys have a meaning elsewhere, too.
func interKeyHome(pointer, key string) string {
	inBlock := contextPointer.MatchString(pointer) || pointer == "/auto_context/inter_phase"
	elsewhere := ""
	if !inBlock {
		elsewhere = `, in a phase's "context" or for all phases in "auto_context": {"inter_phase": {...}}`
	}
	var home string
	switch {
	case key == "inter_context":
		return `a phase has "context": {"mode": "auto", "anchors": {...}, "selection": {...}}; for all phases write "auto_context": {"inter_phase": {...}}`
	case key == "inter_phase":
		home = `in the cascade's "auto_context"; a phase has "context"`
	case key == "card_model" || key == "cards":
		home = `in the cascade's "auto_context": {"inter_phase": {...}}`
	case key == "anchors" || key == "selection":
		home = `in a phase's "context", or for all phases in "auto_context": {"inter_phase": {...}}`
	case !inBlock && slices.Contains([]string{"window", "include", "strategy", "max_tokens"}, key):
		return ""
	case slices.Contains(keysOf[Anchors](), key):
		home = `in "anchors"` + elsewhere
	case slices.Contains(keysOf[Selection](), key):
		home = `in "selection"` + elsewhere
	default:
		return ""
	}
	return fmt.Sprintf("%q belongs %s", key, home)
}

// Keys and values that later versions bring are not called unknown.
var (
	contextPointer = regexp.MustCompile(`^/phases/\d+(/on_error)*/context$`)
	phasePointer   = regexp.MustCompile(`^/phases/\d+(/on_error)*$`)
	tacklePointer  = regexp.MustCompile(`^/phases/\d+(/on_error)*/(tackle|tools)(/\d+)?$`)
	toolPointer    = regexp.MustCompile(`^/tools/\d+$`)
)

func (d *document) laterKey(pointer, key string) bool {
	if d.title != titleCascade {
		return pointer == "" && d.title == titleTool && key == "steps"
	}
	var later []string
	switch {
	case pointer == "":
		later = []string{"mcp_servers", "memory", "soundings", "tool_caching", "continuity"}
	case phasePointer.MatchString(pointer):
		later = []string{"wards", "soundings", "sub_cascades", "async_cascades", "human_input", "output_extraction", "rag"}
	case toolPointer.MatchString(pointer):
		later = []string{"steps"}
	}
	return slices.Contains(later, key)
}

// laterValue names a value that later versions bring, and what to write instead; "" for others.
func laterValue(pointer string, n *source.Node) (what, hint string) {
	if n == nil || n.Kind != source.String {
		return "", ""
	}
	last := max(0, strings.LastIndexByte(pointer, '/'))
	parent, key := pointer[:last], strings.TrimPrefix(pointer[last:], "/")
	switch {
	case key == "type" && (n.Text == "composite" || n.Text == "cascade") && (parent == "" || toolPointer.MatchString(parent)):
		return fmt.Sprintf("the tool type %q", n.Text), "declare a shell or http tool"
	case n.Text == manifest && tacklePointer.MatchString(pointer):
		return fmt.Sprintf("choosing tools by %q", manifest), manifestHint
	}
	return "", ""
}

const (
	manifest     = "manifest"
	manifestHint = "list the tools by name"
)
