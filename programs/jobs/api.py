"""Example of an API in front of language models: one path for your application, behind which models can change.

The job template vllm-replicas starts it with uvicorn. It answers requests that carry the job's key, and asks HAProxy,
which passes each request to the next of the models. Check and limit here what your users may ask for.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import httpx
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field


@asynccontextmanager
async def connected(app: FastAPI) -> AsyncIterator[None]:
    keys = os.environ["KEYS"]
    context = ssl.create_default_context(cafile=f"{keys}/cert.pem")
    context.load_cert_chain(f"{keys}/cert.pem", f"{keys}/key.pem")
    async with httpx.AsyncClient(base_url=os.environ["SERVER"], verify=context, timeout=600) as client:
        app.state.client = client
        yield


app = FastAPI(title="Text generation", lifespan=connected)


class Question(BaseModel):
    """The body of a request."""

    prompt: Annotated[str, Field(min_length=1, max_length=20_000)]
    tokens: Annotated[int, Field(ge=1, le=2000)] = 200


class Answer(BaseModel):
    """The body of an answer."""

    text: str


@app.post("/generate")
async def generate(question: Question) -> Answer:
    """Continues the prompt."""
    body: dict[str, Any] = {"model": os.environ["MODEL"], "prompt": question.prompt, "max_tokens": question.tokens}
    try:
        answer = await app.state.client.post("/v1/completions", json=body)
    except httpx.HTTPError as error:
        raise HTTPException(502, f"the models do not answer: {error}") from error
    if answer.status_code != httpx.codes.OK:
        raise HTTPException(502, f"the models answered with status {answer.status_code}")
    return Answer(text=answer.json()["choices"][0]["text"])
