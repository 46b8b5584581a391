"""Trains networks that predict people's moves by rating: `python -m lab.training.people --help`.

One program for Othello, xiangqi and chess. Games become positions (`positions`), read by a source for each
game (`wthor`, `xiangqi_games`, `chess_games`); a residual network (`network`) learns from them (`training`);
`export` writes it as ONNX with 8-bit convolutions and a card of what was measured (`measure`).
"""
