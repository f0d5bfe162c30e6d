// Package orders shows how a Go test drives the emulator by its control port: HTTP and JSON from the standard library, nothing to generate.
package orders

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
)

// kafka is an emulator's control port: `coordinator serve --control 127.0.0.1:8080`, or the container's port 8080.
type kafka struct {
	t     *testing.T
	url   string
	token string
}

func connect(t *testing.T) *kafka {
	t.Helper()
	url := os.Getenv("COORDINATOR_CONTROL")
	if url == "" {
		t.Skip("set COORDINATOR_CONTROL to the address that `coordinator serve --control` prints")
	}
	k := &kafka{t, url, os.Getenv("COORDINATOR_CONTROL_TOKEN")}
	k.call("POST", "/reset", nil)
	return k
}

// call asks the port, and fails the test with its problem document if it refuses.
func (k *kafka) call(method, path string, body any) map[string]any {
	k.t.Helper()
	data := []byte("{}")
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			k.t.Fatal(err)
		}
	}
	request, err := http.NewRequest(method, k.url+path, bytes.NewReader(data))
	if err != nil {
		k.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if k.token != "" {
		request.Header.Set("Authorization", "Bearer "+k.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		k.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(text, &answer); err != nil {
		k.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	if response.StatusCode >= 400 {
		k.t.Fatalf("%s %s: %v", method, path, answer["detail"])
	}
	return answer
}

func (k *kafka) bootstrapServers() string {
	return fmt.Sprint(k.call("GET", "/", nil)["bootstrap_servers"])
}

// wait returns when everything that is expected of a group holds at the same instant.
func (k *kafka) wait(group string, expected map[string]any) map[string]any {
	k.t.Helper()
	return k.call("POST", "/groups/"+group+"/wait", expected)
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
