package echo

import (
	"bytes"
	"encoding/json"
)

// UnmarshalJSON reads a call with its arguments as they were shown and run. An entry writes <, > and & in
// them as escapes, which are other bytes of the same JSON, and not those that the hash has.
func (c *AwaitedCall) UnmarshalJSON(text []byte) error {
	type plain AwaitedCall
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*c = AwaitedCall(read)
	c.Arguments = withoutEscapes(c.Arguments)
	return nil
}

// withoutEscapes returns JSON whose texts have <, > and & as they are. Numbers keep their digits.
func withoutEscapes(text json.RawMessage) json.RawMessage {
	if !bytes.Contains(text, []byte(`\u00`)) {
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return text
	}
	return bytes.TrimSpace(out.Bytes())
}
