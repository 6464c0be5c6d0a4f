package main

import "github.com/windlass-run/windlass/internal/vault"

// secretHealth is what "windlass doctor" says of how this process keeps secrets from others of the same user.
type secretHealth struct {
	Closed  bool   `json:"closed"`            // nobody but root reads its memory
	Problem string `json:"problem,omitempty"` // why its environment shows them
}

func examineSecrets(s vault.State) secretHealth { return secretHealth{s.Closed, s.Problem} }

func (h secretHealth) summary() string {
	memory := "this system does not close the memory of a process to others of the same user"
	if h.Closed {
		memory = "memory closed to other processes"
	}
	if h.Problem != "" {
		return h.Problem + "; " + memory
	}
	return "not in the environment of the process; " + memory
}
