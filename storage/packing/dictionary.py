"""The preset deflate dictionary of format 1: text that most records share and therefore need not store.

The dictionary must never change: a record can be unpacked only with the dictionary that packed it.
"""

_POSITIONS = (
    '"2b5/2wbb3/2wwbw2/2wbww2/2wwbw2/2wwwww1/8/8 w","8/8/8/3wb3/3bw3/8/8/8 b","connect4"'
    '"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1 moves h3e3 h8e8 b1c3 b10c8 a10a9"'
    '"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4 e7e5 g1f3 b8c6 e1g1 e8g8 b - - "'
)
_MOVES = (
    "a1\na2\na3\na4\na5\na6\na7\na8\nb1\nb2\nb3\nb4\nb5\nb6\nb7\nb8\nc1\nc2\nc3\nc4\nc5\nc6\nc7\nc8\n"
    "d1\nd2\nd3\nd6\nd7\nd8\ne1\ne2\ne3\ne6\ne7\ne8\nf1\nf2\nf3\nf4\nf5\nf6\nf7\nf8\n"
    "g1\ng2\ng3\ng4\ng5\ng6\ng7\ng8\nh1\nh2\nh3\nh4\nh5\nh6\nh7\nh8\n"
    "i1i2\na1a2\ni1i3\na1a3\nb1a3\nb1c3\nh1g3\nh1i3\ng1i3\nc1a3\nc1e3\ng1e3\nd1e2\nf1e2\ne1e2\na4a5\nc4c5\n"
    "e4e5\ng4g5\ni4i5\nb3b2\nh3h2\nb3a3\nb3c3\nb3d3\nb3e3\nh3f3\nh3e3\nh3d3\nh3g3\nb3b10\nh3h10\n"
    "i10i9\na10a9\nb10a8\nb10c8\nh10g8\nh10i8\ng10e8\nc10e8\nc10a8\ng10i8\nd10e9\nf10e9\ne10e9\n"
    "a7a6\nc7c6\ne7e6\ng7g6\ni7i6\nb8e8\nh8e8\nb8a8\nh8i8\n"
    "a7a5\nb7b5\nc7c5\nd7d5\ne7e5\nf7f5\ng7g5\nh7h5\na7a6\nb8a6\nb7b6\nc7c6\nb8c6\nd7d6\ne7e6\nf7f6\ng8f6\ng7g6\n"
    "h7h6\ng8h6\nb8d7\nd8d7\nc8d7\ne8d8\ne8e7\nd8e7\nf8e7\ng8e7\na8b8\ne8f8\nf8g8\nh8g8\ne8g8\n"
    "e1g1\ne1f1\nf1e1\na1b1\nh1g1\nd1e2\nf1e2\nd1d2\nc1d2\nb1d2\na2a3\nb1a3\nb2b3\nc2c3\nb1c3\nd2d3\ne2e3\nf2f3\n"
    "g1f3\ng2g3\nh2h3\ng1h3\na2a4\nb2b4\nc2c4\nd2d4\ne2e4\nf2f4\ng2g4\nh2h4\n"
)
_FORECAST = (
    '{"rule":1,"model":{"kind":"maia","name":"maia-1500","sha256":""},"prior":"",'
    '{"rule":1,"model":{"kind":"looks","name":"looks 6.5","sha256":""},"prior":"",'
    '"replies":null,"odds":null,"base":null,"tempting":null,"confirm_depth":8,"other":{"rule":1'
    '"replies":null,"odds":null,"base":[],"tempting":[],"confirm_depth":0}'
    '["replies","odds","base","tempting"]["replies","odds","tempting"]["replies","odds"]'
    "t*reply\nodds\ncost\ndeceives_at\nconfirmed_cost\x01\x05\x00\x01\x02\x03\x04\x00s"
    "f\xc0\x84=\x00\x03"
)
_OPTIONS = (
    '"assessment":"best","assessment":"last","decided":"paper","scale":"expected",'
    '"risk_percent":3.0,"threshold_percent":0.0,"logistic_centi":'
    '"pick":{"score_centi":0,"depth":10,"confidence":100,"solved":false,"origin":""},'
    '"source":{"name":"Stockfish","protocol":"uci","options":[],"window_centi":100,"floor_centi":-,"nodes":},'
    '"lot":{"within_centi":20,"avoided":[],"number":},'
    '"model":{"kind":"maia","name":"maia-1500","sha256":""},'
    '"reckoning":{"value":{"scale":"expected","budget_percent":3.0,"share_percent":25.0,"least_percent":2.0,'
    '"checkmate_centi":1000,"logistic_centi":0.0},"person":{"rating":1500,"clock_s":null},"human":null,'
    '"trouble":""},'
    '"tempting":{"budget":500,"share_percent":25,"gap_percent":35,"won_gap_percent":10,"logistic_centi":0.0}}'
    '"draw":{"params":{"chance":0.5,"budget_percent":2.0,"most_profiles":6},"trap":"","sound":"",'
    '"trap_value":5000,"sound_value":5000,"seed":"","sha256":""}}'
)
_DECISION = (
    '"player":"standard","player":"strong","player":"tempting","player":"randomised","player":"calibrated",'
    '"player":"opponent_model","search_mode":"strong","search_mode":"book","search_mode":"tablebase",'
    '"search_mode":"trial","search_mode":"lot","search_mode":"engine","profile_source":"reference",'
    '{"game":"xiangqi","position":"{"game":"othello","position":"{"game":"chess","position":"'
    '","player":"trappy","params":{"assessment":"median","margin_centi":0,"decided":"swindle",'
    '"threshold_percent":5.0,"scale":"paper","risk_percent":5.0,"risk_share_percent":25.0,'
    '"logistic_centi":0.0},"move":"e2e4","candidates":null,"depth":10,"principal_variation":null,'
    '"nodes":100000,"time_s":0.0,"profile_source":"native","engine_version":"0.2.0+5","search_mode":"exact",'
    '"pick":null,"source":null,"lot":null,"model":null,"reckoning":null}'
    '$["candidates","principal_variation"]'
    "tImove\nraw_centi\nraw_is_bound\nadjusted_centi\nquality_centi\nreplies\ncomplete\x01\x07"
    "\x00\x01\x02\x03\x04\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "tNmove\nraw_centi\nraw_is_bound\nadjusted_centi\nquality_centi\ntrap\nreplies\ncomplete\nvalue\x02\x07"
    "tNmove\nraw_centi\nraw_is_bound\nadjusted_centi\nquality_centi\nreplies\ncomplete\ntrap\x02\x07"
    "\x00\x01\x02\x03\x04\x05\x06\x08\x00\x01\x02\x03\x04\x07\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01b"
    "f\x01\x00\x02f\x01\x01\x02f\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00l\x01"
    "\x03\xe8\xd0\xb1\x1ef\x02\x00\x04"
    "probability\nglance_centi\nleast_centi\n"
    "t2reply\nscores_centi\nbound_centi\nshallow_bound_centi\x02\x04\x00\x01\x02\x03\x02\x00\x01\x00"
)

DICTIONARY = (_POSITIONS + _OPTIONS + _FORECAST + _MOVES + _DECISION).encode("latin-1")
"""The most frequent parts come last, because deflate encodes short distances in fewer bits."""
