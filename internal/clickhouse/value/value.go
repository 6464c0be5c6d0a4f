// Package value is the values of a result of ClickHouse, for people and for programs.
package value

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/shopspring/decimal"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

// Value is one value of a result: for people, without the noise of floating-point sums, and for
// programs with every digit.
type Value struct {
	Null   bool
	Number bool   // it is shown right-aligned and stands unquoted in JSON
	text   string // for people
	json   []byte // nil: the text as a JSON string
}

// String returns the value as text for people; NULL is "NULL".
func (v Value) String() string {
	if v.Null {
		return "NULL"
	}
	return v.text
}

// Exact returns the value as text with every digit; NULL is "NULL".
func (v Value) Exact() string {
	if !v.Null && v.isPlain() {
		return string(v.json)
	}
	return v.String()
}

// isPlain reports whether the value is no string in JSON.
func (v Value) isPlain() bool { return len(v.json) > 0 && v.json[0] != '"' }

// appendText appends the value in JSON, with numbers as people see them.
func (v Value) appendText(dst []byte) []byte {
	if !v.Null && v.isPlain() {
		return append(dst, v.text...)
	}
	return v.AppendJSON(dst)
}

// AppendJSON appends the value in JSON.
func (v Value) AppendJSON(dst []byte) []byte {
	switch {
	case v.Null:
		return append(dst, "null"...)
	case v.json != nil:
		return append(dst, v.json...)
	}
	return echo.AppendString(dst, v.text)
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// Type is a parsed type name: what is needed beside the driver's Go value to show it.
type Type struct {
	name string   // without arguments; LowCardinality, Nullable and SimpleAggregateFunction are seen through
	args []Type   // of Array, Map, Tuple, Nested
	keys []string // names of a Tuple's elements; empty strings when it has none
	size int      // digits after the point of DateTime64, Time64 and Decimal
}

// Name returns the name of a type without arguments.
func (t Type) Name() string { return t.name }

// Parse reads a type; what it does not know is shown by the Go value alone.
func Parse(s string) Type {
	name, args := splitType(s)
	t := Type{name: name}
	switch name {
	case "LowCardinality", "Nullable", "SimpleAggregateFunction":
		if len(args) > 0 {
			return Parse(args[len(args)-1])
		}
	case "Array", "Map":
		for _, a := range args {
			t.args = append(t.args, Parse(a))
		}
	case "Tuple", "Nested":
		for _, a := range args {
			key, elem := splitElement(a)
			t.keys, t.args = append(t.keys, key), append(t.args, Parse(elem))
		}
	case "DateTime64", "Time64":
		t.size = 3
		if len(args) > 0 {
			t.size, _ = strconv.Atoi(args[0]) // the server wrote it
		}
	case "Decimal":
		if len(args) == 2 {
			t.size, _ = strconv.Atoi(args[1])
		}
	}
	if t.name == "Nested" { // its values are arrays of tuples
		return Type{name: "Array", args: []Type{{name: "Tuple", args: t.args, keys: t.keys}}}
	}
	return t
}

// splitType splits "Map(String, Array(UInt8))" into its name and arguments.
func splitType(s string) (name string, args []string) {
	s = strings.TrimSpace(s)
	open := strings.IndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return s, nil
	}
	inner := s[open+1 : len(s)-1]
	for len(inner) > 0 {
		n := elementLength(inner)
		args = append(args, strings.TrimSpace(inner[:n]))
		inner = inner[min(n+1, len(inner)):]
	}
	return s[:open], args
}

func elementLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '`', '"':
			i += sqltext.QuotedLength(s[i:]) - 1
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// splitElement splits the "name Type" of a tuple's element; an unnamed one has only a type.
func splitElement(s string) (key, typ string) {
	if s != "" && (s[0] == '`' || s[0] == '"') {
		n := sqltext.QuotedLength(s)
		return sqltext.Unquote(s[:n]), strings.TrimSpace(s[n:])
	}
	word, rest, ok := strings.Cut(s, " ")
	if !ok || strings.ContainsAny(word, "(,") {
		return "", s
	}
	return word, strings.TrimSpace(rest)
}

// Convert makes a Value of what the driver scanned.
func (t Type) Convert(v reflect.Value) (Value, error) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && v.Type() != reflect.TypeFor[*big.Int]() {
		if v.IsNil() {
			return Value{Null: true}, nil
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return Value{Null: true}, nil
	}
	if value, ok := t.convertKnown(v.Interface()); ok {
		return value, nil
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return t.convertList(v)
	case reflect.Map:
		return t.convertMap(v)
	default:
		return convertScalar(v)
	}
}

func (t Type) convertKnown(x any) (Value, bool) {
	switch x := x.(type) {
	case time.Time:
		return Value{text: x.Format(t.timeLayout())}, true
	case time.Duration:
		return Value{text: x.String()}, true
	case *big.Int:
		return numberValue(x.String()), true
	case big.Int:
		return numberValue(x.String()), true
	case decimal.Decimal:
		return numberValue(x.StringFixed(int32(max(t.size, int(-x.Exponent()))))), true
	case net.IP:
		return Value{text: x.String()}, true
	case driver.Variant: // Dynamic is the same type
		if x.Nil() {
			return Value{Null: true}, true
		}
		inner, err := Parse(x.Type()).Convert(reflect.ValueOf(x.Any()))
		return inner, err == nil
	case driver.JSON:
		b, err := json.Marshal(&x)
		return Value{text: string(b), json: b}, err == nil
	case string:
		if t.isJSON() && json.Valid([]byte(x)) {
			return Value{text: x, json: []byte(x)}, true
		}
		return Value{text: x}, true
	case fmt.Stringer: // UUID
		return Value{text: x.String()}, true
	}
	return Value{}, false
}

func (t Type) isJSON() bool { return t.name == "JSON" || t.name == "Object" }

func (t Type) timeLayout() string {
	switch t.name {
	case "Date", "Date32":
		return time.DateOnly
	case "DateTime64":
		if t.size > 0 {
			return time.DateTime + "." + strings.Repeat("0", t.size)
		}
	}
	return time.DateTime
}

func numberValue(s string) Value { return Value{Number: true, text: s, json: []byte(s)} }

func convertScalar(v reflect.Value) (Value, error) {
	switch v.Kind() {
	case reflect.String:
		return Value{text: v.String()}, nil
	case reflect.Bool:
		s := strconv.FormatBool(v.Bool())
		return Value{text: s, json: []byte(s)}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return numberValue(strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return numberValue(strconv.FormatUint(v.Uint(), 10)), nil
	case reflect.Float32, reflect.Float64:
		return floatValue(v.Float(), v.Type().Bits()), nil
	default:
		return Value{}, fmt.Errorf("values of the Go type %s cannot be shown", v.Type())
	}
}

// digitsForPeople are those of a 64-bit number that a sum of such numbers leaves as they are.
const digitsForPeople = 15

// floatValue writes the shortest exact text, and for people one of [digitsForPeople] at most. What
// JSON has no number for is a string there.
func floatValue(f float64, bits int) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		text := strings.ToLower(strings.TrimPrefix(fmt.Sprint(f), "+"))
		return Value{Number: true, text: text, json: []byte(`"` + text + `"`)}
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	v := numberValue(strconv.FormatFloat(f, format, -1, bits))
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digitsForPeople, 64), 64); err == nil && bits == 64 {
		v.text = strconv.FormatFloat(rounded, format, -1, bits)
	}
	return v
}

// convertList shows arrays, and tuples without names.
func (t Type) convertList(v reflect.Value) (Value, error) {
	out, text := []byte{'['}, []byte{'['}
	for i := range v.Len() {
		var elem Type
		switch {
		case t.name == "Tuple" && i < len(t.args):
			elem = t.args[i]
		case len(t.args) > 0:
			elem = t.args[0]
		}
		value, err := elem.Convert(v.Index(i))
		if err != nil {
			return Value{}, err
		}
		if i > 0 {
			out, text = append(out, ','), append(text, ',')
		}
		out, text = value.AppendJSON(out), value.appendText(text)
	}
	return Value{text: string(append(text, ']')), json: append(out, ']')}, nil
}

// convertMap shows maps, sorted by key, and tuples with names, in their own order.
func (t Type) convertMap(v reflect.Value) (Value, error) {
	type member struct {
		key   string
		order int
		value Value
	}
	var members []member
	for _, k := range v.MapKeys() {
		var keyType, elem Type
		order := 0
		if t.name == "Map" && len(t.args) == 2 {
			keyType, elem = t.args[0], t.args[1]
		}
		key, err := keyType.Convert(k)
		if err != nil {
			return Value{}, err
		}
		if i := slices.Index(t.keys, key.text); t.name == "Tuple" && i >= 0 {
			elem, order = t.args[i], i
		}
		value, err := elem.Convert(v.MapIndex(k))
		if err != nil {
			return Value{}, err
		}
		members = append(members, member{key.text, order, value})
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.key, b.key))
	})
	out, text := []byte{'{'}, []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out, text = append(out, ','), append(text, ',')
		}
		out, text = append(echo.AppendString(out, m.key), ':'), append(echo.AppendString(text, m.key), ':')
		out, text = m.value.AppendJSON(out), m.value.appendText(text)
	}
	return Value{text: string(append(text, '}')), json: append(out, '}')}, nil
}
