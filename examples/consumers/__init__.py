"""One consumer application three times, each with its client library; `bugs` has mistakes that such
applications make."""
