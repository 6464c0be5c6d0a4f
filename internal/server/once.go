package server

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// saidOnce refuses JSON with a name twice in an object: which value counts depends on who reads it,
// so one could be checked and another one used. Text that is no JSON passes.
func saidOnce(data []byte) error {
	if !json.Valid(data) { // it also bounds how deep the value is
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return namesOnce(dec)
}

// namesOnce reads one value of valid JSON.
func namesOnce(dec *json.Decoder) error {
	token, _ := dec.Token()
	open, _ := token.(json.Delim)
	if open == 0 {
		return nil
	}
	names := map[json.Token]bool{}
	for dec.More() {
		if open == '{' {
			name, _ := dec.Token()
			if names[name] {
				return fmt.Errorf("an object has the name %s twice", quote(fmt.Sprint(name)))
			}
			names[name] = true
		}
		if err := namesOnce(dec); err != nil {
			return err
		}
	}
	_, _ = dec.Token() // the closing bracket
	return nil
}
