// Package coordinatorcontainer runs the image kafka-group-coordinator, an emulator of Kafka's group coordinator, in place of a Kafka
// container.
//
// A broker tells its clients the address that they connect to, and Docker chooses that port as the container starts. So the container
// first waits for a file with its address, which is copied into it once the port is known.
package coordinatorcontainer

import (
	"context"
	"crypto/rand"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	clientPort  = "9092/tcp"
	controlPort = "8080/tcp"
	addressFile = "/tmp/address"
)

// start waits for the whole file (it ends in an empty line), takes its lines as variables, and becomes the emulator.
const start = `
import os, time
text = ""
while not text.endswith("\n\n"):
    time.sleep(0.02)
    text = open("` + addressFile + `").read() if os.path.exists("` + addressFile + `") else ""
os.environ.update(line.split("=", 1) for line in text.split())
command = ["python3", "-m", "coordinator", "serve", "--from-environment", "--allow-remote"]
os.execvp(command[0], command)
`

// Options say what the emulator starts with; the zero value is a broker without topics that asks nobody who they are.
type Options struct {
	// Topics that are there from the start, with their numbers of partitions.
	Topics map[string]int
	// Config has broker configurations by Kafka's names, such as group.max.size.
	Config map[string]string
	// Users log in by PLAIN, without TLS, with these passwords; with one, nobody is served without logging in.
	Users map[string]string
}

// Container is a running emulator.
type Container struct {
	testcontainers.Container
	token string
}

// Run starts the image, such as kafka-group-coordinator:0.1.0, and returns when clients are served. As with every module of
// Testcontainers, a container that is returned beside an error is to be terminated too: testcontainers.CleanupContainer does it.
func Run(ctx context.Context, image string, options Options, more ...testcontainers.ContainerCustomizer) (*Container, error) {
	token := rand.Text()
	given := append([]testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(clientPort, controlPort),
		testcontainers.WithEntrypoint("python3", "-c", start),
		testcontainers.WithEnv(options.environment(token)),
		testcontainers.WithAdditionalLifecycleHooks(testcontainers.ContainerLifecycleHooks{
			PostStarts: []testcontainers.ContainerHook{func(ctx context.Context, started testcontainers.Container) error {
				return options.tellAddress(ctx, started)
			}},
		}),
	}, more...)
	started, err := testcontainers.Run(ctx, image, given...)
	if started == nil {
		return nil, err
	}
	return &Container{Container: started, token: token}, err
}

// BootstrapServers is what clients have as bootstrap.servers, on the machine of the tests.
func (c *Container) BootstrapServers(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, clientPort, "")
}

// ControlURL is the address of the control port, http://host:port.
func (c *Container) ControlURL(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, controlPort, "http")
}

// ControlToken is what the control port asks for: "Authorization: Bearer TOKEN".
func (c *Container) ControlToken() string {
	return c.token
}

func (o Options) protocol() string {
	if len(o.Users) > 0 {
		return "SASL_PLAINTEXT"
	}
	return "PLAINTEXT"
}

func (o Options) environment(token string) map[string]string {
	variables := map[string]string{
		"COORDINATOR_CONTROL_TOKEN": token,
		"KAFKA_LISTENERS":           o.protocol() + "://0.0.0.0:9092",
	}
	var topics, users []string
	for name, partitions := range o.Topics {
		topics = append(topics, fmt.Sprintf("%s:%d", name, partitions))
	}
	sort.Strings(topics)
	if len(topics) > 0 {
		variables["COORDINATOR_TOPICS"] = strings.Join(topics, ",")
	}
	for name, value := range o.Config {
		variables[variable(name)] = value
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for name, password := range o.Users {
		users = append(users, fmt.Sprintf(` user_%s="%s"`, name, quote.Replace(password)))
	}
	sort.Strings(users)
	if len(users) > 0 {
		variables[variable("listener.name.sasl_plaintext.plain.sasl.jaas.config")] =
			"org.apache.kafka.common.security.plain.PlainLoginModule required" + strings.Join(users, "") + ";"
	}
	return variables
}

// tellAddress copies the address into the container, and waits until the emulator says that it is ready.
func (o Options) tellAddress(ctx context.Context, started testcontainers.Container) error {
	endpoint, err := started.PortEndpoint(ctx, clientPort, "")
	if err != nil {
		return err
	}
	host, err := started.Host(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("KAFKA_ADVERTISED_LISTENERS=%s://%s\nCOORDINATOR_CONTROL_ADVERTISE=%s\n\n", o.protocol(), endpoint, host)
	if err := started.CopyToContainer(ctx, []byte(text), addressFile, 0o644); err != nil {
		return err
	}
	return wait.ForLog("ready: ").WithStartupTimeout(time.Minute).WaitUntilReady(ctx, started)
}

// variable is the variable of a broker configuration, as the image reads it: num.partitions is KAFKA_NUM_PARTITIONS.
func variable(name string) string {
	return "KAFKA_" + strings.ToUpper(strings.NewReplacer("_", "__", "-", "___", ".", "_").Replace(name))
}
