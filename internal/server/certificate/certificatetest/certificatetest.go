// Package certificatetest makes certificates for tests.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Files are a certificate for loopback that signs itself, and its key.
type Files struct {
	Cert, Key string
	Pool      *x509.CertPool // with the certificate
}

// Write writes a certificate with a serial number that is valid between two points in time, and replaces one from before.
func Write(t *testing.T, dir string, serial int64, from, until time.Time) Files {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "windlass"}, NotBefore: from, NotAfter: until,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Pool: x509.NewCertPool()}
	put(t, f.Cert, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	put(t, f.Key, &pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	f.Pool.AddCert(leaf)
	return f
}

func put(t *testing.T, path string, b *pem.Block) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", pem.EncodeToMemory(b), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}
