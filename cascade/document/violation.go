package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/suggestion"
	"github.com/windlass-run/windlass/schema"
)

// violation reports what the schema found and marks the value to be left out when decoding.
func (d *Document) violation(v schema.Violation) {
	at := Place{doc: d, pointer: v.Pointer}
	switch v.Keyword {
	case "additionalProperties":
		d.edits[at.Key(v.Property).pointer] = source.Drop
		d.unknownKey(at, v)
	case "required":
		if !d.meant[at.Key(v.Property).pointer] {
			at.Error(CodeMissingKey, fmt.Sprintf("%s has no %q", d.words.Describe(at), v.Property), "add it")
		}
	default:
		d.edits[v.Pointer] = source.Nullify
		d.wrongValue(at, v)
	}
}

func (d *Document) unknownKey(at Place, v schema.Violation) {
	key := v.Property
	if d.words.Later(at, key) {
		at.KeyError(key, CodeNotSupportedYet, fmt.Sprintf("%q is not supported yet by this version of windlass", key), "remove it")
		return
	}
	hint := "known here are " + strings.Join(v.Expected, ", ")
	if home := d.words.Home(at, key, true); home != "" {
		hint = home
	} else if near := suggestion.For(key, v.Expected); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
		d.meant[at.Key(near).pointer] = true
	} else if home := d.words.Home(at, key, false); home != "" {
		hint = home
	}
	at.KeyError(key, CodeUnknownKey, fmt.Sprintf("unknown key %q in %s", key, d.words.Describe(at)), hint)
}

func (d *Document) wrongValue(at Place, v schema.Violation) {
	n := at.Node()
	if text, hint := d.words.LaterValue(at); text != "" {
		at.Error(CodeNotSupportedYet, text+" is not supported yet by this version of windlass", hint)
		return
	}
	what := d.words.Describe(at)
	code, message, hint := CodeInvalidValue, what+": "+v.Message, ""
	switch v.Keyword {
	case "type":
		code, hint = CodeWrongType, cmp.Or(typeHint(v, n), d.words.Instead(at))
	case "enum", "const":
		hint = cmp.Or(enumHint(v, n), d.words.Instead(at))
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		code, message, hint = CodeOutOfRange, what+" "+v.Message, d.words.Instead(at)
	case "minItems":
		message = what + " " + v.Message
		if c, m, h := d.words.TooFew(at); c != "" {
			code, message, hint = c, m, h
		}
	case "pattern":
		if c, m, h := d.words.WrongText(at, strconv.Quote(n.Text)); c != "" {
			code, message, hint = c, m, h
		}
	}
	at.Error(code, message, hint)
}

// typeHint says how to write what was probably meant.
func typeHint(v schema.Violation, n *source.Node) string {
	if strings.Contains(v.Pointer, "/input_map/") {
		return `write a template or the path of a value, as "{{ 5 }}" or "input.list"`
	}
	if n == nil || n.Kind != source.String {
		return ""
	}
	if slices.Contains(v.Expected, "boolean") && !strings.HasSuffix(v.Pointer, "/human_input") && !strings.HasSuffix(v.Pointer, "/decision_points") && slices.Contains([]string{"on", "off", "yes", "no"}, strings.ToLower(n.Text)) {
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
