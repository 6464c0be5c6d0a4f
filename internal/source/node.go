package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is what a [Node] is, in JSON's terms.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Node is one value of a file. Offsets are bytes of the file.
type Node struct {
	Kind       Kind
	Start, End int
	Text       string   // the decoded string; a number's or a boolean's JSON text
	Items      []*Node  // of an array
	Members    []Member // of an object, in the order of the file; a repeated key is left out

	index map[string]int // of Members by key
}

// Member is one key of an object with its value.
type Member struct {
	Key              string
	KeyStart, KeyEnd int
	Value            *Node
}

// Member returns the member with the key.
func (n *Node) Member(key string) (Member, bool) {
	if n != nil {
		if i, ok := n.index[key]; ok {
			return n.Members[i], true
		}
	}
	return Member{}, false
}

// Get returns the value of a key of an object, or nil.
func (n *Node) Get(key string) *Node {
	m, _ := n.Member(key)
	return m.Value
}

// At returns the value that a JSON pointer names, or nil.
func (n *Node) At(pointer string) *Node {
	for _, token := range SplitPointer(pointer) {
		if n == nil {
			return nil
		}
		n = n.child(token)
	}
	return n
}

func (n *Node) child(token string) *Node {
	if n.Kind != Array {
		return n.Get(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// Nearest returns the value that a JSON pointer names, or the closest one around its place.
func (n *Node) Nearest(pointer string) *Node {
	for _, token := range SplitPointer(pointer) {
		next := n.child(token)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Edit says what [Node.JSON] does with the value at a pointer.
type Edit uint8

// The edits.
const (
	Keep    Edit = iota
	Drop         // leave the key out; in an array the value becomes null, so that no index shifts
	Nullify      // write null, which decodes into a zero value
)

// JSON returns the value as JSON, changed by edit, which is asked for every pointer and may be
// nil. Numbers without a fraction are written as integers, as 1 for 1.0.
func (n *Node) JSON(edit func(pointer string) Edit) []byte {
	if edit == nil {
		edit = func(string) Edit { return Keep }
	}
	return n.appendJSON(nil, "", edit)
}

func (n *Node) appendJSON(b []byte, pointer string, edit func(string) Edit) []byte {
	switch {
	case n.Kind == Null || edit(pointer) != Keep:
		return append(b, "null"...)
	case n.Kind == Bool:
		return append(b, n.Text...)
	case n.Kind == Number:
		return append(b, plainInteger(n.Text)...)
	case n.Kind == String:
		return AppendJSON(b, n.Text)
	case n.Kind == Array:
		b = append(b, '[')
		for i, item := range n.Items {
			b = append(item.appendJSON(b, pointer+"/"+strconv.Itoa(i), edit), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	}
	b = append(b, '{')
	for _, m := range n.Members {
		if p := pointer + "/" + EscapePointer(m.Key); edit(p) != Drop {
			b = append(AppendJSON(b, m.Key), ':')
			b = append(m.Value.appendJSON(b, p, edit), ',')
		}
	}
	return append(bytes.TrimSuffix(b, []byte(",")), '}')
}

// AppendJSON appends a value as JSON without escaping <, > and &, for messages.
func AppendJSON(b []byte, v any) []byte {
	var w bytes.Buffer
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Append(b, v)
	}
	return append(b, bytes.TrimSuffix(w.Bytes(), []byte("\n"))...)
}

// plainInteger writes 1.0 as 1, which encoding/json wants for an int. Large exponents stay.
func plainInteger(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return text
	}
	return strconv.FormatInt(int64(f), 10)
}

// EscapePointer makes a key a token of a JSON pointer.
func EscapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// SplitPointer returns the unescaped tokens of a JSON pointer.
func SplitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens
}
