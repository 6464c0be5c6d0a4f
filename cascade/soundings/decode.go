package soundings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/cascade/document"
)

// UnmarshalJSON reads a list of names, or an object from names to settings in the order of the file.
// JSON null leaves the models as they are.
func (m *Models) UnmarshalJSON(data []byte) error {
	switch document.KindOf(data) {
	case 'n':
		return nil
	case '[':
		var names []string
		if err := json.Unmarshal(data, &names); err != nil {
			return err
		}
		*m = make(Models, len(names))
		for i, name := range names {
			(*m)[i].Name = name
		}
		return nil
	}
	return m.readObject(json.NewDecoder(bytes.NewReader(data)))
}

func (m *Models) readObject(d *json.Decoder) error {
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start != json.Delim('{') {
		return fmt.Errorf("models are a list or an object, not %v", start)
	}
	*m = Models{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var one Model
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("model %q: %w", name, err)
		}
		one.Name, _ = name.(string) // the keys of an object are strings
		*m = append(*m, one)
	}
	_, err = d.Token()
	return err
}

// MarshalJSON writes the names, or an object in the order of the models when one has settings.
func (m Models) MarshalJSON() ([]byte, error) {
	names := make([]string, len(m))
	plain := true
	for i, one := range m {
		names[i] = one.Name
		plain = plain && one == Model{Name: one.Name}
	}
	if plain {
		return json.Marshal(names)
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(one.Name)
		if err != nil {
			return nil, err
		}
		settings, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(settings)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Until returns the validator that ends the refinement when the best answer passes it; "": none does.
func (r *Reforge) Until() string {
	var ward struct {
		Validator string `json:"validator"`
	}
	if r == nil || len(r.Threshold) == 0 || document.ReadEither(r.Threshold, document.AString, &ward.Validator, &ward) != nil {
		return ""
	}
	return ward.Validator
}
