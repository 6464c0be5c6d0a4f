package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/doctor"
)

func TestSecretHealth(t *testing.T) {
	t.Parallel()
	require.Equal(t, "not in the environment of the process; memory closed to other processes", secretsFinding(doctor.Secrets{Closed: true}))
	require.Equal(t, "windlass cannot execute itself again; this system does not close the memory of a process to others of the same user",
		secretsFinding(doctor.Secrets{Problem: "windlass cannot execute itself again"}))
}
