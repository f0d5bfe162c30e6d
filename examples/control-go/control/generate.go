// Package control is a client of the emulator's control port, made by oapi-codegen from its OpenAPI document.
//
// Get the document first: curl 'http://127.0.0.1:8080/openapi.json?version=3.0' > openapi.json
package control

//go:generate go tool oapi-codegen -package control -generate types,client -o client.go ../openapi.json
