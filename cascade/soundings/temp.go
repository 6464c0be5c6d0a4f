package soundings

import "encoding/json"

// UnmarshalJSON is temporary.
func (m *Models) UnmarshalJSON(b []byte) error {
	var names []string
	if json.Unmarshal(b, &names) == nil {
		for _, n := range names {
			*m = append(*m, Model{Name: n})
		}
		return nil
	}
	var of map[string]Model
	if err := json.Unmarshal(b, &of); err != nil {
		return err
	}
	for n, x := range of {
		x.Name = n
		*m = append(*m, x)
	}
	return nil
}
