"""The ways to ask of Chiang and Lee (2023), "A Closer Look into Automatic Evaluation Using Large Language Models"."""
