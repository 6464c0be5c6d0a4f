package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// property is one argument of a built-in tool.
type property struct {
	name, kind, about string
	more              string // further members of its schema, as JSON
}

// integer returns an integer argument with its bounds and its default.
func integer(name, about string, least, most, otherwise int) property {
	return property{name, "integer", about, fmt.Sprintf(`"minimum":%d,"maximum":%d,"default":%d`, least, most, otherwise)}
}

// object returns the schema of a tool's arguments, which allows no others.
func object(required []string, properties ...property) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","additionalProperties":false`)
	if len(required) > 0 {
		names, _ := json.Marshal(required) // strings can always be encoded
		fmt.Fprintf(&b, `,"required":%s`, names)
	}
	b.WriteString(`,"properties":{`)
	for i, p := range properties {
		if i > 0 {
			b.WriteByte(',')
		}
		about, _ := json.Marshal(p.about) // strings can always be encoded
		fmt.Fprintf(&b, `%q:{"type":%q,"description":%s`, p.name, p.kind, about)
		if p.more != "" {
			b.WriteString("," + p.more)
		}
		b.WriteByte('}')
	}
	b.WriteString("}}")
	return b.Bytes()
}
