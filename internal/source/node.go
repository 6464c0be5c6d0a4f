package source

import (
	"bytes"
	"encoding/json"
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
	if n == nil {
		return Member{}, false
	}
	i, ok := n.index[key]
	if !ok {
		return Member{}, false
	}
	return n.Members[i], true
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

// Nearest returns the value that a JSON pointer names or, when there is none, the closest one around it.
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

// JSON returns the value as JSON, changed by edit, which is asked for every value with its pointer below n. A nil edit
// keeps everything. A number without a fraction is written as an integer, as 1 for 1.0 or 1e0.
func (n *Node) JSON(edit func(pointer string) Edit) []byte {
	w := jsonWriter{edit: edit}
	w.value(n, "")
	return w.out.Bytes()
}

type jsonWriter struct {
	out  bytes.Buffer
	edit func(string) Edit
}

func (w *jsonWriter) action(pointer string) Edit {
	if w.edit == nil {
		return Keep
	}
	return w.edit(pointer)
}

func (w *jsonWriter) value(n *Node, pointer string) {
	switch n.Kind {
	case Null:
		w.out.WriteString("null")
	case Bool:
		w.out.WriteString(n.Text)
	case Number:
		w.out.WriteString(plainInteger(n.Text))
	case String:
		w.out.Write(quote(n.Text))
	case Array:
		w.array(n, pointer)
	case Object:
		w.object(n, pointer)
	}
}

func (w *jsonWriter) array(n *Node, pointer string) {
	w.out.WriteByte('[')
	for i, item := range n.Items {
		if i > 0 {
			w.out.WriteByte(',')
		}
		p := pointer + "/" + strconv.Itoa(i)
		if w.action(p) == Keep {
			w.value(item, p)
		} else {
			w.out.WriteString("null")
		}
	}
	w.out.WriteByte(']')
}

func (w *jsonWriter) object(n *Node, pointer string) {
	w.out.WriteByte('{')
	first := true
	for _, m := range n.Members {
		p := pointer + "/" + EscapePointer(m.Key)
		action := w.action(p)
		if action == Drop {
			continue
		}
		if !first {
			w.out.WriteByte(',')
		}
		first = false
		w.out.Write(quote(m.Key))
		w.out.WriteByte(':')
		if action == Nullify {
			w.out.WriteString("null")
		} else {
			w.value(m.Value, p)
		}
	}
	w.out.WriteByte('}')
}

// quote writes a string as JSON without escaping <, > and &, which would only make messages harder to read.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// Encoding a string cannot fail: a file's text is valid UTF-8.
	_ = enc.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// plainInteger rewrites a number without a fraction as an integer: encoding/json refuses 1.0 for an int, JSON Schema
// does not. A number with a large exponent is left alone.
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
