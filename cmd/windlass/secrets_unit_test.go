package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/vault"
)

func TestSecretHealth(t *testing.T) {
	t.Parallel()
	require.Equal(t, "not in the environment of the process; memory closed to other processes", examineSecrets(vault.State{Closed: true}).summary())
	require.Equal(t, "windlass cannot execute itself again; this system does not close the memory of a process to others of the same user",
		examineSecrets(vault.State{Problem: "windlass cannot execute itself again"}).summary())
}
